/**
 * Which requests take long, by how long those of their kind took last: two hundred clients that list the same megabytes are known
 * by the first two of them, and the others let what is small go first.
 */

/** Of the step that begins a request, to its answer or to where it waits. */
const longMicrosMin = 1_000;

/** One may have been held up by a collection of garbage. */
const longTimesMin = 2;

/** Kinds that are remembered; beyond, the one that was long ago longest is forgotten. */
const kindsMax = 500;

/** They ask for nothing: what one takes is what others had it wait for. */
const probe = /^\/(?:livez|readyz|healthz)(?:[/?]|$)/;

export interface RequestLine {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
}

export class RequestCosts {
  /** How often in a row a kind took long, up to `longTimesMin`; the latest last. */
  readonly #longTimes = new Map<string, number>();

  /** `micros`: of its first step, on the clock. */
  took(request: RequestLine, micros: number): void {
    if (probe.test(request.url ?? "")) return;
    const times = this.#longTimes;
    if (micros < longMicrosMin) {
      if (times.size > 0) times.delete(kindOfRequest(request));
      return;
    }
    const name = kindOfRequest(request);
    const before = times.get(name) ?? 0;
    times.delete(name);
    times.set(name, Math.min(before + 1, longTimesMin));
    if (times.size > kindsMax) times.delete(times.keys().next().value as string);
  }

  isLong(request: RequestLine): boolean {
    return this.#longTimes.size > 0 && (this.#longTimes.get(kindOfRequest(request)) ?? 0) >= longTimesMin;
  }
}

/** Of a path that names a group and version, the segments before what follows. */
const rootLengths: Readonly<Record<string, number>> = { api: 2, apis: 3 };

/**
 * What requests that take about as long have in common: `GET pods`, `GET pods/…/log`, `GET pods?limit`. Namespaces and names are
 * left out: a crowd may ask for a different one each.
 */
export function kindOfRequest({ method = "", url = "" }: RequestLine): string {
  const end = url.indexOf("?");
  const path = (end < 0 ? url : url.slice(0, end)).split("/", segmentsMax).slice(1);
  const query = end < 0 ? "" : url.slice(end);
  const root = rootLengths[path[0] ?? ""] ?? 0;
  const inNamespace = path[root] === "namespaces" && path.length > root + 2;
  const [resource = "", name, subresource] = path.slice(inNamespace ? root + 2 : root);
  const named = name === undefined ? "" : `/…${subresource === undefined ? "" : `/${subresource}`}`;
  const options = optionsThatMatter.filter((option) => query.includes(option)).map((option) => `?${option}`);
  return `${method} ${root === 0 ? path.join("/") : resource}${named}${options.join("")}`.slice(0, kindLengthMax);
}

const segmentsMax = 12;
const kindLengthMax = 200;
const optionsThatMatter = ["watch=", "limit=", "Selector="];
