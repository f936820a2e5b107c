import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { GetRootResourceRequest, LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

import { parseUrn } from "../common/urn";

const severities = { info: LogSeverity.INFO, warning: LogSeverity.WARNING };

/**
 * The engine that has started this process. It does not show what a plugin prints, so messages for a person go to its log.
 */
export class EngineLog {
  private client: EngineClient | undefined;
  private readonly sending = new Set<Promise<void>>();

  /** @param address host and port of the engine; without one nothing is sent */
  constructor(public address: string | undefined) {}

  /** Sends to another engine from now on, because an attached plugin serves several runs. An empty address means no engine. */
  attach(address: string): void {
    this.client?.close();
    this.client = undefined;
    this.address = address === "" ? undefined : address;
  }

  /**
   * Shows a message, with the resource that it is about: the stack, if there is no URN.
   * @param options.isEphemeral show it only while the run lasts
   */
  log(
    severity: keyof typeof severities,
    message: string,
    urn: string | Promise<string> = "",
    { isEphemeral = false } = {},
  ): void {
    const client = this.connect();
    if (!client) return;
    const send = async (): Promise<void> => {
      const request = new LogRequest()
        .setSeverity(severities[severity])
        .setMessage(message)
        .setUrn(await urn)
        .setEphemeral(isEphemeral);
      // The engine may have ended. That must not fail the operation.
      await new Promise<void>((resolve) => {
        client.log(request, () => {
          resolve();
        });
      });
    };
    const sending = send().finally(() => this.sending.delete(sending));
    this.sending.add(sending);
  }

  /** The URN with this suffix. Empty if the engine knows no stack. */
  async urnOf(urnSuffix: string): Promise<string> {
    const client = this.connect();
    if (!client) return "";
    const root = await new Promise<string>((resolve) => {
      client.getRootResource(new GetRootResourceRequest(), (error, response) => {
        resolve(error ? "" : response.getUrn());
      });
    });
    const { stack, project } = parseUrn(root);
    return root && `urn:pulumi:${stack}::${project}::${urnSuffix}`;
  }

  async flush(): Promise<void> {
    await Promise.all(this.sending);
  }

  private connect(): EngineClient | undefined {
    if (this.address === undefined) return undefined;
    // The engine is on this machine, which a proxy may not reach.
    const options = { "grpc.enable_http_proxy": 0 };
    return (this.client ??= new EngineClient(this.address, credentials.createInsecure(), options));
  }
}
