// The executable `pulumi-resource-uptime`. The engine waits until it prints a port, so only the protocol is loaded before.
import "../exit-on-old-node";

import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";

import { version } from "../../../package.json";
import { endAtSignal, endWithEngine, engineAddressIn } from "../end";
import { EngineLog } from "../engine-log";
import { methodsOf } from "./grpc";
import type * as runs from "./run";

const args = process.argv.slice(2);

if (args.includes("--version")) {
  console.log(version);
} else {
  const address = engineAddressIn(args);
  const engine = new EngineLog(address);
  let plugin: runs.PluginRun | undefined;
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(
    ResourceProviderService,
    methodsOf(engine, version, {
      /* eslint-disable @typescript-eslint/no-require-imports */
      newRun: () => (plugin = new (require("./run") as typeof runs).PluginRun(engine, process.env)),
      // The file in the repository leaves out the version, so that a release need not change it.
      schema: () => JSON.stringify({ ...(require("./schema.json") as object), version }),
      /* eslint-enable @typescript-eslint/no-require-imports */
    }),
  );
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error) {
      console.error(`pulumi-resource-uptime could not open a port: ${error.message}`);
      process.exit(1);
    }
    console.log(port);
  });
  endAtSignal(() => plugin?.session);
  endWithEngine(address);
}
