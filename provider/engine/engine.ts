import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

const severities = { info: LogSeverity.INFO, warning: LogSeverity.WARNING };

/**
 * The engine that has started this process. It does not show what a plugin prints, so whatever a person is to read goes to
 * its log.
 */
export class Engine {
  private client: EngineClient | undefined;
  private readonly sending = new Set<Promise<void>>();

  /** @param address host and port; without one nothing is sent */
  constructor(public address: string | undefined) {}

  /** Serves another engine from now on, as an attached plugin does. */
  attach(address: string): void {
    this.client?.close();
    this.client = undefined;
    this.address = address;
  }

  /**
   * Shows a message, with the resource that it is about.
   * @param isEphemeral whether it is shown only while the resource or the stack is at work, and not kept
   */
  log(severity: keyof typeof severities, message: string, urn = "", isEphemeral = false): void {
    const sending = this.send(severity, message, urn, isEphemeral).finally(() =>
      this.sending.delete(sending),
    );
    this.sending.add(sending);
  }

  /** Waits until the engine has all messages. */
  async flush(): Promise<void> {
    await Promise.all(this.sending);
  }

  private async send(
    severity: keyof typeof severities,
    message: string,
    urn: string,
    isEphemeral: boolean,
  ): Promise<void> {
    if (this.address === undefined) return;
    // The engine is on this machine, where a proxy cannot reach it.
    this.client ??= new EngineClient(this.address, credentials.createInsecure(), {
      "grpc.enable_http_proxy": 0,
    });
    const { client } = this;
    const request = new LogRequest()
      .setSeverity(severities[severity])
      .setMessage(message)
      .setUrn(urn)
      .setEphemeral(isEphemeral);
    // An engine that has ended shows nothing, and that must not fail what is being done.
    await new Promise<void>((resolve) => {
      client.log(request, () => {
        resolve();
      });
    });
  }
}
