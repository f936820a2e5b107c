import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8 from optimizing the WebAssembly in this process, which is undici's parser of HTTP: what a run sends is too little
 * to repay it. It takes 36 MB, which the process often keeps, as a refresh of 1000 monitors showed on Node 20.
 */
export function compileWebAssemblyOnce(): void {
  setFlagsFromString("--liftoff-only");
}
