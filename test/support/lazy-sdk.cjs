// Loaded first by every program and provider of a test. Pulumi's SDK loads TypeScript and npm's dependency tree for programs
// that serialize functions, which takes half a second in each process; with this, only those that use them load them.
const Module = require("node:module");

const load = Module._load;

Module._load = function (request, parent, isMain) {
  const whole = () => load.call(this, request, parent, isMain);
  if (request !== "@npmcli/arborist" && !request.endsWith("/typescript-shim")) return whole();
  return new Proxy(
    {},
    // The SDK's compiled code asks first whether it imports an ES module, whose default export is then the module itself.
    {
      get: (_, name) => (name === "__esModule" ? true : name === "default" ? whole() : whole()[name]),
    },
  );
};
