// Loaded first by every program and provider of a test, so that they load only what they use.
const Module = require("node:module");

// The language host that is a Go module does not know the option `typescript`, and has each program load TypeScript.
if (process.env.TEST_LANGUAGE === "js") process.env.PULUMI_NODEJS_TYPESCRIPT = "false";

// Pulumi's SDK needs these only for programs that serialize functions or run Pulumi themselves, and for packages.
const isRarelyUsed = (request) =>
  ["@npmcli/arborist", "normalize-package-data", "./automation", "js-yaml"].includes(request) ||
  /\/(typescript-shim|v8Hooks)$/.test(request);

// OpenTelemetry is a third of what a program loads, and no test has a trace.
const span = { setAttribute() {}, addEvent() {}, end() {} };
const tracing = { __esModule: true, newSpan: () => span };

const load = Module._load;

Module._load = function (request, parent, isMain) {
  const whole = () => load.call(this, request, parent, isMain);
  if (request === "./tracing") return tracing;
  // It reads the maps of the SDK for each resource, to say where it is declared; a program in JavaScript has no map.
  if (request === "source-map-support/register" && process.env.TEST_LANGUAGE === "js") return {};
  if (!isRarelyUsed(request)) return whole();
  return new Proxy(
    {},
    {
      get: (_, name) => {
        // The SDK's compiled code asks first whether it imports an ES module, whose default export is then the module itself.
        if (name === "__esModule") return true;
        // Before each program, the SDK switches V8's debugger on.
        if (name === "isInitializedAsync") return () => Promise.resolve();
        return name === "default" ? whole() : whole()[name];
      },
    },
  );
};
