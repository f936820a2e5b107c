import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { credentials } from "@grpc/grpc-js";
import { AnalyzerClient } from "@pulumi/pulumi/proto/analyzer_grpc_pb";
import {
  AnalyzerResource,
  AnalyzerResourceOptions,
  AnalyzeStackRequest,
  EnforcementLevel,
  type AnalyzeDiagnostic,
  type AnalyzeResponse,
} from "@pulumi/pulumi/proto/analyzer_pb";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";

import { engineUnknown } from "../../provider/common/marks";
import { newFolder } from "../support/folder";
import { startProgram } from "../support/processes";
import { copyExample } from "../support/workspace";

const modules = join(__dirname, "..", "..", "node_modules");

type Resource = [type: string, name: string, outputs: Record<string, JavaScriptValue>];

type Reported = Record<string, string[]>;

/** What examples/policy says of the resources of stacks, in the SDK's own runner: by name, or whole where none is named. */
async function reported(stacks: readonly Resource[][]): Promise<Reported[]> {
  const folder = newFolder();
  await copyExample("policy", folder);
  symlinkSync(modules, join(folder, "node_modules"));
  const runner = join(modules, "@pulumi", "pulumi", "cmd", "run-policy-pack");
  // It asks the engine nothing.
  const started = startProgram(process.execPath, [runner, "127.0.0.1:1", folder], { cwd: folder });
  const port = (await Promise.race([started.firstLine, started.done.then(({ output }) => output)])).trim();
  expect(port).toMatch(/^\d+$/);
  const client = new AnalyzerClient(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    return await Promise.all(stacks.map((resources) => reportedOf(client, resources)));
  } finally {
    client.close();
    started.child.kill();
  }
}

async function reportedOf(client: AnalyzerClient, resources: readonly Resource[]): Promise<Reported> {
  const request = new AnalyzeStackRequest();
  request.setResourcesList(
    resources.map(([type, name, outputs]) =>
      new AnalyzerResource()
        .setType(type)
        .setName(name)
        .setUrn(`urn:pulumi:test::site::${type}::${name}`)
        .setOptions(new AnalyzerResourceOptions())
        .setProperties(Struct.fromJavaScript(outputs)),
    ),
  );
  const response = await new Promise<AnalyzeResponse>((resolve, reject) => {
    client.analyzeStack(request, (error, answer) => {
      if (error) reject(error);
      else resolve(answer);
    });
  });
  const found: Record<string, string[]> = {};
  const isAdvisory = (one: AnalyzeDiagnostic): boolean =>
    one.getEnforcementlevel() === EnforcementLevel.ADVISORY;
  expect(response.getDiagnosticsList().every(isAdvisory)).toBe(true);
  for (const one of response.getDiagnosticsList())
    (found[one.getUrn().replace(/^.*::/, "")] ??= []).push(one.getMessage().replace(/^.*\n/, ""));
  return found;
}

const balancer = "aws:lb/loadBalancer:LoadBalancer";
const monitors = [
  "https://seen.elb.example/health",
  "https://www.named.example",
  "https://SEEN.example/",
  "https://a.routed.example/",
].map((url, index): Resource => {
  const type = index % 2 === 0 ? "pulumi-nodejs:dynamic/uptime:Monitor" : "uptime:index:Monitor";
  return [type, `monitor-${index}`, { name: "Home", url, interval: 60 }];
});

test("examples/policy lists the public addresses of each provider that no monitor watches, as an advice, and waits for `pulumi up` where a monitor's URL is not known yet", async () => {
  const none = (...names: string[]): string[] => names.map((name) => `No monitor has a URL of ${name}.`);
  const record = { fqdn: "www.named.example", aliases: [{ name: "named.elb.example." }] };
  const site = { domainName: "d1.cloudfront.example", aliases: ["seen.example"], enabled: true };
  const app = { defaultHostName: "app.azure.example", hostNames: ["app.azure.example", "app.example"] };
  const inside = { uri: "https://inside.example", ingress: "INGRESS_TRAFFIC_INTERNAL_ONLY" };
  const rules = [{ host: "seen.example" }, { host: "shop.example" }, {}, { host: "*.example.org" }];
  const unknown: Resource = ["uptime:index:Monitor", "late", { name: "Late", url: engineUnknown }];
  const [found, waiting] = await reported([
    [
      ...monitors,
      [balancer, "seen", { dnsName: "seen.elb.example", internal: false }],
      [balancer, "inside", { dnsName: "inside.elb.example", internal: true }],
      [balancer, "named", { dnsName: "Named.elb.example" }],
      [balancer, "alone", { dnsName: "alone.elb.example" }],
      [balancer, "new", { dnsName: engineUnknown }],
      ["aws:route53/record:Record", "record", record],
      ["aws:cloudfront/distribution:Distribution", "site", site],
      ["azure-native:web/v20230101:WebApp", "app", app],
      ["azure-native:app:ContainerApp", "no-ingress", { configuration: {} }],
      [
        "gcp:cloudrunv2/service:Service",
        "run",
        { uri: "https://run.example", ingress: "INGRESS_TRAFFIC_ALL" },
      ],
      ["gcp:cloudrunv2/service:Service", "run-inside", inside],
      ["cloudflare:index/workersRoute:WorkersRoute", "route", { pattern: "*.routed.example/*" }],
      ["cloudflare:index/dnsRecord:DnsRecord", "plain", { name: "plain.example", proxied: false }],
      ["cloudflare:index/dnsRecord:DnsRecord", "proxied", { name: "proxied.example", proxied: true }],
      ["vercel:index/projectDomain:ProjectDomain", "front", { domain: "front.example" }],
      ["kubernetes:networking.k8s.io/v1:Ingress", "ingress", { spec: { rules } }],
    ],
    [unknown, [balancer, "alone", { dnsName: "alone.elb.example" }]],
  ]);
  expect(found).toEqual({
    alone: none("alone.elb.example"),
    app: none("app.azure.example or app.example"),
    run: none("run.example"),
    proxied: none("proxied.example"),
    front: none("front.example"),
    ingress: none("shop.example", "*.example.org"),
  });
  expect(Object.values(waiting ?? {}).flat()).toEqual([
    expect.stringContaining("can't run policy 'unwatched-addresses'"),
  ]);
});
