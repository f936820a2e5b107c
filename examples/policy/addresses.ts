/** The paths of a resource's public addresses in its outputs: host names or URLs. */
export interface AddressSource {
  /** A part of a path that ends with [] is a list. */
  paths: string[];
  /** Not public if one of these has such a value. */
  unless?: Record<string, unknown[]>;
  /** Public only if each of these has such a value. */
  onlyIf?: Record<string, unknown[]>;
  /** Each host is a site of its own. Otherwise they are names of one site, and a monitor of one of them is enough. */
  areSites?: boolean;
}

const internalSchemes = ["INTERNAL", "INTERNAL_MANAGED", "INTERNAL_SELF_MANAGED"];
const loadBalancer = { paths: ["dnsName"], unless: { internal: [true] } };
const forwardingRule = { paths: ["ipAddress"], unless: { loadBalancingScheme: internalSchemes } };
const ingress = { paths: ["spec.rules[].host"], areSites: true };

/** The types of resources that have public addresses. Types of Azure Native are without a version here. */
export const addressSources: Partial<Record<string, AddressSource>> = {
  "aws:alb/loadBalancer:LoadBalancer": loadBalancer,
  "aws:lb/loadBalancer:LoadBalancer": loadBalancer,
  "aws:elb/loadBalancer:LoadBalancer": loadBalancer,
  "aws:cloudfront/distribution:Distribution": {
    paths: ["domainName", "aliases[]"],
    unless: { enabled: [false] },
  },
  "aws:globalaccelerator/accelerator:Accelerator": { paths: ["dnsName"], unless: { enabled: [false] } },
  "aws:apigateway/stage:Stage": { paths: ["invokeUrl"] },
  "aws:apigateway/domainName:DomainName": { paths: ["domainName"] },
  "aws:apigatewayv2/api:Api": { paths: ["apiEndpoint"], unless: { disableExecuteApiEndpoint: [true] } },
  "aws:apigatewayv2/domainName:DomainName": { paths: ["domainName"] },
  "aws:apprunner/service:Service": { paths: ["serviceUrl"] },
  "aws:elasticbeanstalk/environment:Environment": { paths: ["cname"] },
  "aws:lambda/functionUrl:FunctionUrl": { paths: ["functionUrl"] },
  "aws:lightsail/containerService:ContainerService": { paths: ["url"] },
  "aws:s3/bucketWebsiteConfiguration:BucketWebsiteConfiguration": { paths: ["websiteEndpoint"] },

  "azure-native:apimanagement:ApiManagementService": { paths: ["gatewayUrl"] },
  "azure-native:app:ContainerApp": {
    paths: ["configuration.ingress.fqdn"],
    onlyIf: { "configuration.ingress.external": [true] },
  },
  "azure-native:cdn:AFDEndpoint": { paths: ["hostName"] },
  "azure-native:cdn:Endpoint": { paths: ["hostName"] },
  "azure-native:containerinstance:ContainerGroup": { paths: ["ipAddress.fqdn"] },
  "azure-native:network:PublicIPAddress": { paths: ["dnsSettings.fqdn"] },
  "azure-native:trafficmanager:Profile": { paths: ["dnsConfig.fqdn"] },
  "azure-native:web:StaticSite": { paths: ["defaultHostname", "customDomains[]"] },
  "azure-native:web:WebApp": { paths: ["defaultHostName", "hostNames[]"], unless: { enabled: [false] } },

  "gcp:apigateway/gateway:Gateway": { paths: ["defaultHostname"] },
  "gcp:appengine/application:Application": { paths: ["defaultHostname"] },
  "gcp:appengine/domainMapping:DomainMapping": { paths: ["domainName"] },
  "gcp:cloudfunctions/function:Function": { paths: ["httpsTriggerUrl"] },
  "gcp:cloudfunctionsv2/function:Function": {
    paths: ["url"],
    unless: { "serviceConfig.ingressSettings": ["ALLOW_INTERNAL_ONLY", "ALLOW_INTERNAL_AND_GCLB"] },
  },
  "gcp:cloudrun/domainMapping:DomainMapping": { paths: ["name"] },
  "gcp:cloudrun/service:Service": { paths: ["statuses[].url"] },
  "gcp:cloudrunv2/service:Service": {
    paths: ["uri"],
    unless: {
      defaultUriDisabled: [true],
      ingress: ["INGRESS_TRAFFIC_INTERNAL_ONLY", "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"],
    },
  },
  "gcp:compute/forwardingRule:ForwardingRule": forwardingRule,
  "gcp:compute/globalForwardingRule:GlobalForwardingRule": forwardingRule,
  "gcp:firebase/hostingCustomDomain:HostingCustomDomain": { paths: ["customDomain"] },
  "gcp:firebase/hostingSite:HostingSite": { paths: ["defaultUrl"] },

  "cloudflare:index/dnsRecord:DnsRecord": { paths: ["name"], onlyIf: { proxied: [true] } },
  "cloudflare:index/record:Record": { paths: ["name"], onlyIf: { proxied: [true] } },
  "cloudflare:index/loadBalancer:LoadBalancer": { paths: ["name"], unless: { enabled: [false] } },
  "cloudflare:index/pagesDomain:PagesDomain": { paths: ["name"] },
  "cloudflare:index/pagesProject:PagesProject": { paths: ["subdomain", "domains[]"] },
  "cloudflare:index/r2CustomDomain:R2CustomDomain": { paths: ["domain"], unless: { enabled: [false] } },
  "cloudflare:index/workersCustomDomain:WorkersCustomDomain": { paths: ["hostname"] },
  "cloudflare:index/workersRoute:WorkersRoute": { paths: ["pattern"] },

  "vercel:index/alias:Alias": { paths: ["alias"] },
  "vercel:index/deployment:Deployment": { paths: ["url", "domains[]"] },
  "vercel:index/projectDomain:ProjectDomain": { paths: ["domain"] },

  "kubernetes:extensions/v1beta1:Ingress": ingress,
  "kubernetes:networking.k8s.io/v1:Ingress": ingress,
  "kubernetes:networking.k8s.io/v1beta1:Ingress": ingress,
};

/** DNS records: if one of the names belongs to a site, the others do too. */
export const dnsRecords: Partial<Record<string, { name: string; targets: string[] }>> = {
  "aws:route53/record:Record": { name: "fqdn", targets: ["records[]", "aliases[].name"] },
  "azure-native:dns:RecordSet": { name: "fqdn", targets: ["cnameRecord.cname", "aRecords[].ipv4Address"] },
  "gcp:dns/recordSet:RecordSet": { name: "name", targets: ["rrdatas[]"] },
  "cloudflare:index/dnsRecord:DnsRecord": { name: "name", targets: ["content"] },
  "cloudflare:index/record:Record": { name: "name", targets: ["content"] },
};

/** The values at a path in the properties of a resource. Throws if one is not known yet in a preview. */
export function valuesAt(properties: unknown, path: string): unknown[] {
  let values: unknown[] = [properties];
  for (const part of path.split(".")) {
    const key = part.replace("[]", "");
    values = values.flatMap((value) => {
      const next = (value as Record<string, unknown>)[key];
      if (next === undefined || next === null) return [];
      return part.endsWith("[]") ? next : [next];
    });
  }
  return values.filter((value) => value !== undefined && value !== null && value !== "");
}
