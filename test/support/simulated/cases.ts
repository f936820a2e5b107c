import fc from "fast-check";

import type { Dialect } from "../../../provider/emulator";
import { dialects, hiddenFields, namesOf } from "../arbitraries";
import type { Properties } from "../calls";
import type { Command } from "./engine";
import { mutationOf, type Target } from "./mutations";
import { echo, secret } from "./secrets";

/** The requests that an operation sends, and the command that runs it, if there is one. */
export const operations = {
  create: { sends: ["create", "create", "create", "list", "show", "update"], by: "up" },
  adopt: { sends: ["list", "show", "create", "update"], by: "up" },
  import: { sends: ["show", "list"], by: "up" },
  read: { sends: ["show", "list"], by: "refresh" },
  refresh: { sends: ["show", "list"], by: "up --refresh" },
  get: { sends: ["show"], by: undefined },
  update: { sends: ["update", "update", "show"], by: "up" },
  delete: { sends: ["delete", "delete", "list", "show"], by: "destroy" },
  replace: { sends: ["delete", "create", "create", "list", "show"], by: "up" },
} satisfies Record<string, { sends: Target[]; by: Command | undefined }>;

/** The operation is on a resource that is in state. */
export const isInState = (operation: Case["operation"]): boolean =>
  ["read", "refresh", "update", "delete", "replace"].includes(operation);

const monitorArgs: fc.Arbitrary<Properties> = fc
  .record({
    password: secret,
    headers: fc.array(secret, { maxLength: 2 }),
    extends: fc.boolean(),
    more: fc.record(
      {
        alertChannelIds: fc.constantFrom([], [1, 2]),
        sslAlertDays: fc.constantFrom(0, 7),
        pause: fc.boolean(),
        cacheBuster: fc.boolean(),
        maintenanceStartAt: fc.constant("2031-01-01T00:00:00"),
        requestAuthUsername: fc.constant("someone"),
      },
      { requiredKeys: [] },
    ),
    hasPassword: fc.boolean(),
  })
  .map(({ password, headers, extends: isLonger, more, hasPassword }) => {
    // One secret may begin with another.
    const values = isLonger && headers[0] !== undefined ? [headers[0], `${headers[0]}-${password}`] : headers;
    return {
      name: "Home",
      url: "https://home.example/",
      interval: 60,
      ...more,
      ...(hasPassword && { requestAuthPassword: password }),
      ...(values.length > 0 && {
        requestHeaders: values.map((value, number) => ({ key: `X-H${number}`, value })),
      }),
    };
  });
const domainArgs: fc.Arbitrary<Properties> = fc.constantFrom(
  { name: "one.example" },
  { name: "one.example", homepageUrl: "https://one.example/home" },
);

const dialect: fc.Arbitrary<Partial<Dialect>> = fc
  .tuple(
    // With many odd answers at once, most operations end before a wrong one matters.
    fc.oneof(fc.constant({}), dialects),
    fc.record(
      {
        hidden: hiddenFields,
        notStored: fc.constantFrom([], ["alert_channel_ids"], ["ssl_alert_days", "homepage_url"]),
        createAnswer: fc.constantFrom("record", "id", "empty"),
        listBrief: fc.boolean(),
        deletion: fc.constantFrom("removed", "marked"),
        order: fc.constantFrom("asked", "none"),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([usual, strange]) => ({ ...usual, gone: 404, uniqueDomainNames: false, ...strange }));

/** One operation, and what goes wrong while it runs. */
export const cases = fc
  .tuple(
    fc.constantFrom("monitor", "monitor", "domain"),
    fc.constantFrom(...namesOf(operations), "create", "create"),
  )
  .chain(([kind, operation]) =>
    fc.record({
      kind: fc.constant(kind),
      operation: fc.constant(operation),
      args: kind === "monitor" ? monitorArgs : domainArgs,
      dialect,
      habits: fc.record({
        ids: fc.constantFrom("rising", "rising", "falling", "reused", "text"),
        lag: fc.constantFrom<number>(0, 0, 4500),
        ownLag: fc.constantFrom<number>(0, 0, 3500),
      }),
      // Ctrl-C, or SIGTERM to the provider, after this number of requests.
      interruption: fc.option(
        fc.record({ after: fc.integer({ min: 1, max: 4 }), by: fc.constantFrom("cancel", "finish") }),
        { nil: undefined, freq: 5 },
      ),
      // How many other records there are.
      others: fc.oneof(
        { weight: 5, arbitrary: fc.integer({ min: 0, max: 3 }) },
        fc.constantFrom<number>(10, 25, 100),
      ),
      echo,
      mutations: fc.array(
        fc.constantFrom(...operations[operation].sends).chain((target) =>
          fc.record({
            target: fc.constant(target),
            // Which request of its kind.
            number: fc.oneof(
              { weight: 4, arbitrary: fc.constant<number>(1) },
              fc.integer({ min: 1, max: 3 }),
            ),
            mutation: mutationOf(target, kind),
          }),
        ),
        { minLength: 1, maxLength: 4, size: "-1" },
      ),
    }),
  );

export type Case = typeof cases extends fc.Arbitrary<infer One> ? Readonly<One> : never;
