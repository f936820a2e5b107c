import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

const severities = { info: LogSeverity.INFO, warning: LogSeverity.WARNING };

/**
 * The engine that has started this process. It does not show what a plugin prints, so messages for a person go to its log.
 */
export class EngineLog {
  private client: EngineClient | undefined;
  private readonly sending = new Set<Promise<void>>();

  /** @param address host and port of the engine; without one nothing is sent */
  constructor(public address: string | undefined) {}

  /** Sends to another engine from now on, because an attached plugin serves several runs. */
  attach(address: string): void {
    this.client?.close();
    this.client = undefined;
    this.address = address;
  }

  /**
   * Shows a message, with the resource that it is about.
   * @param isEphemeral show it only while the run lasts
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
    // The engine is on this machine, which a proxy may not reach.
    this.client ??= new EngineClient(this.address, credentials.createInsecure(), {
      "grpc.enable_http_proxy": 0,
    });
    const { client } = this;
    const request = new LogRequest()
      .setSeverity(severities[severity])
      .setMessage(message)
      .setUrn(urn)
      .setEphemeral(isEphemeral);
    // The engine may have ended. That must not fail the operation.
    await new Promise<void>((resolve) => {
      client.log(request, () => {
        resolve();
      });
    });
  }
}
