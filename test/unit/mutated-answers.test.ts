import fc from "fast-check";

import { assertProperty } from "../support/property";
import { cases, type Case } from "../support/simulated/cases";
import { simulatedFronts } from "../support/simulated/front";
import { tryCase } from "../support/simulated/judge";
import { modelSize } from "../support/size";

test.each(simulatedFronts)(
  "no answer, however wrong, loses or doubles a record, takes somebody else's or tells a secret: $name",
  async (front) => {
    await assertProperty(
      fc.asyncProperty(cases, (one) => tryCase(one, front)),
      modelSize(5, 60, 10_000),
    );
  },
  10_000_000,
);

const home = { name: "Home", url: "https://home.example/", interval: 60 };
type Mutation = Case["mutations"][number]["mutation"];
const create = (mutation: Mutation, more: Partial<Case> = {}): Case => ({
  kind: "monitor",
  operation: "create",
  args: home,
  dialect: {},
  habits: { ids: "rising", lag: 0, ownLag: 0 },
  interruption: undefined,
  others: 2,
  echo: { form: "as it is", padding: 0, field: "message" },
  mutations: [{ target: "create", number: 1, mutation }],
  ...more,
});
const answered = (
  status: number,
  effectAfter: number | "never" = 0,
  more: Partial<Extract<Mutation, { mutate: "status" }>> = {},
): Mutation => ({ mutate: "status", status, body: "empty", effectAfter, ...more });

const seen: Record<string, Case> = {
  "a value that cannot be read": create(
    { mutate: "value", field: "alert_channel_ids", value: "[1," },
    { args: { ...home, alertChannelIds: [1, 2] } },
  ),
  "an object whose name toString is no function": create(
    { mutate: "value", field: "alert_channel_ids", value: [[{ toString: 1 }]] },
    { args: { ...home, alertChannelIds: [1, 2] } },
  ),
  "half of a surrogate pair": create({ mutate: "value", field: "display_name", value: "Home \ud83d" }),
  "half of a surrogate pair in a name": create({ mutate: "value", field: "k\ud83d", value: 1 }),
  "the Location of something else": create({
    mutate: "location",
    location: "/api/v1/jobs/77",
    body: "empty",
  }),
  "the Location of something else, and an interruption while it is looked for": create(
    { mutate: "location", location: "/api/v1/monitors/1", body: "empty" },
    { habits: { ids: "falling", lag: 0, ownLag: 0 }, others: 1, interruption: { after: 4, by: "cancel" } },
  ),
  "a record that was there before": create({ mutate: "older" }),
  "an id under which the server shows somebody else's record": create(
    { mutate: "id", id: "01" },
    {
      dialect: { createAnswer: "id" },
      others: 1,
      mutations: [
        { target: "list", number: 1, mutation: { mutate: "list", list: "empty" } },
        { target: "create", number: 1, mutation: { mutate: "id", id: "01" } },
      ],
    },
  ),
  "a 504, and the record eight seconds later": create(answered(504, 8000)),
  "a 202, and the record eight seconds later": create(answered(202, 8000)),
  "a 303 after the effect": create(answered(303, 0, { location: "/api/v1/monitors" })),
  "a 202 that cannot be read, and the record a minute later": create(answered(202, 60_000, { body: "html" })),
  "a 302 that leads nowhere after the effect": create(answered(302)),
  "a 501 after the effect": create(answered(501)),
  "a 308 to another record": create(answered(308, "never", { location: "/api/v1/monitors/1" })),
  "an envelope with an id of its own": create({ mutate: "envelope", envelope: "request" }),
  "a record without its fields": create({ mutate: "envelope", envelope: "jsonApi" }),
  "a text that is cut between the halves of a surrogate pair": create(
    answered(422, "never", { body: "json" }),
  ),
  "nothing, after a delete whose record is shown for seven seconds": create(
    answered(202, 3000, { body: "usual" }),
    {
      operation: "replace",
      args: { ...home, alertChannelIds: [1] },
      dialect: { notStored: ["alert_channel_ids"], createAnswer: "empty" },
      habits: { ids: "rising", lag: 4500, ownLag: 3500 },
      others: 0,
      mutations: [{ target: "delete", number: 1, mutation: answered(202, 3000, { body: "usual" }) }],
    },
  ),
  "secrets that look like a tag together": create(answered(401, 0, { body: "echo" }), {
    operation: "delete",
    args: {
      ...home,
      requestAuthPassword: "QQ>QQ/QQ/Q",
      requestHeaders: [{ key: "X-H0", value: "QQ<QQ/QQ/Q" }],
    },
    echo: { form: "as it is", padding: 180, field: "message" },
    mutations: [{ target: "delete", number: 1, mutation: answered(401, 0, { body: "echo" }) }],
  }),
};

test.each([77, "../1"])(
  "a record that a brief list names is not adopted as %s, which its address shows",
  async (id) => {
    const mutations: Case["mutations"] = [{ target: "show", number: 1, mutation: { mutate: "id", id } }];
    const adoption = create(
      { mutate: "older" },
      { operation: "adopt", dialect: { listBrief: true }, mutations },
    );
    for (const front of simulatedFronts) await tryCase(adoption, front);
  },
);

test.each(Object.entries(seen))("a create that is answered with %s", async (_, one) => {
  for (const front of simulatedFronts) await tryCase(one, front);
});
