import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8 from optimizing the WebAssembly in this process, which is undici's parser of HTTP: what a run sends is too little
 * to repay it. It takes 36 MB, which the process often keeps: a refresh of 1000 monitors peaks at 190 MB, not at 223.
 */
export function compileWebAssemblyOnce(): void {
  setFlagsFromString("--liftoff-only");
}
