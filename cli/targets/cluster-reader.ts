/** A live cluster, read page by page: what an import needs of it, and nothing else is asked. */
import type { UrlTransport } from "../../conformance/client/url-transport.ts";
import { Gathered } from "../../wire/gathered.ts";
import { answerValuesMax, hasFewJsonValues } from "../../wire/json-values.ts";
import { UsageError } from "../flags/usage-error.ts";

export interface SeenObject {
  readonly kind: string;
  readonly object: unknown;
}

const collections = [
  { kind: "Node", path: "/api/v1/nodes", isNeeded: true },
  { kind: "Pod", path: "/api/v1/pods", isNeeded: true },
  { kind: "PodDisruptionBudget", path: "/apis/policy/v1/poddisruptionbudgets", isNeeded: false },
  { kind: "PriorityClass", path: "/apis/scheduling.k8s.io/v1/priorityclasses", isNeeded: false },
] as const;

const pageObjects = 250;
/** A page of 250 objects has a hundredth of it. */
const pageBytesMax = 64 << 20;
const pagesMax = 100_000;
const answerMillisMax = 60_000;
/** A list whose version is gone begins again: what came twice counts once. */
const beginningsMax = 3;

/** Throws `UsageError` for what cannot be read; what may be missing is told by `note`. */
export async function* clusterObjects(
  transport: Pick<UrlTransport, "open">,
  flag: string,
  note: (text: string) => void,
): AsyncGenerator<SeenObject> {
  for (const { kind, path, isNeeded } of collections) {
    let beginnings = 1;
    let token = "";
    for (let page = 0; ; page++) {
      if (page === pagesMax) throw new UsageError(`${flag}: ${path}: it goes on after ${pagesMax} pages.`);
      const query = `limit=${pageObjects}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
      const { status, body } = await got(transport, `${path}?${query}`, flag);
      if (status === 410 && token !== "" && beginnings++ < beginningsMax) {
        token = "";
        continue;
      }
      if (status !== 200) {
        const why = `${path}: status ${status}${messageOf(body)}`;
        if (isNeeded || (status !== 403 && status !== 404)) throw new UsageError(`${flag}: ${why}.`);
        note(`${why}; the experiment is made without`);
        break;
      }
      const list = parsed(body, `${flag}: ${path}`);
      for (const object of list.items) yield { kind, object };
      token = list.token;
      if (token === "") break;
    }
  }
}

function parsed(body: string, where: string): { readonly items: readonly unknown[]; readonly token: string } {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch (error) {
    throw new UsageError(`${where}: the answer is not JSON: ${(error as Error).message}.`);
  }
  const { items, metadata } = (document ?? {}) as { readonly items?: unknown; readonly metadata?: unknown };
  const token = ((metadata ?? {}) as { readonly continue?: unknown }).continue ?? "";
  if (!(Array.isArray(items) || items === null || items === undefined) || typeof token !== "string")
    throw new UsageError(`${where}: the answer is no list.`);
  return { items: items ?? [], token };
}

/** What a Status says, in short. */
function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === "string" ? `: ${message.slice(0, 300)}` : "";
  } catch {
    return "";
  }
}

function got(
  transport: Pick<UrlTransport, "open">,
  path: string,
  flag: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const body = new Gathered();
    const refuse = (why: string): void => {
      clearTimeout(timer);
      cancel();
      reject(new UsageError(`${flag}: ${path}: ${why}.`));
    };
    const timer = setTimeout(() => refuse(`no answer within ${answerMillisMax / 1000} s`), answerMillisMax);
    const cancel = transport.open(
      { method: "GET", path, headers: { accept: "application/json", "user-agent": "touchstone" } },
      {
        head(code) {
          status = code;
        },
        chunk(part) {
          body.add(part);
          if (body.bytes > pageBytesMax) refuse(`an answer of more than ${pageBytesMax >> 20} MiB`);
        },
        end() {
          clearTimeout(timer);
          const bytes = body.joined();
          if (hasFewJsonValues(bytes, answerValuesMax)) resolve({ status, body: new TextDecoder().decode(bytes) });
          else refuse(`an answer of more than ${answerValuesMax.toLocaleString("en")} values`);
        },
        failed: (cause) => refuse(`no answer: ${cause.message}`),
      },
    );
  });
}
