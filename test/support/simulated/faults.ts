import type { Answer } from "../../../provider/emulator/answers";
import { networkError, type Misbehaviour, type Seen } from "./api";

interface FaultBehaviour extends Misbehaviour {
  /** Each retry of the request fails in the same way; otherwise the first one is answered. */
  readonly isLasting?: boolean;
}

const said = (status: number, body?: object, headers = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: body ? JSON.stringify(body) : "",
});
/** The server repeats the key, which nobody may see. */
const message = (text: string, { headers }: Seen): object => ({
  message: `${text} (${headers.authorization ?? ""})`,
});
const undone = (answer: Answer): FaultBehaviour => ({ effectAfter: "never", answer: () => answer });
const refused = (answer: Answer): FaultBehaviour => ({ ...undone(answer), isLasting: true });

/** What may happen to a request. */
const table = {
  refused: (request) => refused(said(422, message("This is refused.", request))),
  failed: (request) => refused(said(500, message("Server Error", request))),
  "failed once": (request) => undone(said(500, message("Server Error", request))),
  lost: () => ({ answer: () => networkError("ECONNRESET", "read ECONNRESET") }),
  "504": () => ({ answer: () => said(504) }),
  // Longer than any default.
  slow: () => ({ answerAfter: 400_000 }),
  late: () => ({ effectAfter: 20_000, answerAfter: 400_000 }),
  // Between the two looks for a lost create.
  delayed: () => ({ effectAfter: 3000, answerAfter: 4000 }),
  // Another create may get the id of what is deleted before that is answered.
  stalled: () => ({ effectAfter: 1000, answerAfter: 20_000 }),
  limited: () => undone(said(429, undefined, { "retry-after": "7" })),
  complaint: (request) =>
    refused(said(200, { success: false, deleted: false, ...message("This is refused.", request) })),
  // Words that may mean anything.
  words: (request) => refused(said(200, message("Down for maintenance", request))),
  // What was written is stored, and then something else fails.
  afterwards: ({ method }) =>
    method === "GET"
      ? {}
      : {
          answer: (usual) => {
            const id =
              usual && usual.status < 400 ? /"id":\s*(\d+)/.exec(String(usual.body))?.[1] : undefined;
            return id === undefined ? usual : said(200, { id: Number(id), error: "No mail was sent." });
          },
        },
  // An error is not hidden: a request with a key that was rotated has no effect.
  empty: () => ({ answer: (usual) => (usual && usual.status >= 400 ? usual : said(200)) }),
} satisfies Record<string, (request: Seen) => FaultBehaviour>;

type FaultName = keyof typeof table;
export const faults: Readonly<Record<FaultName, (request: Seen) => FaultBehaviour>> = table;
