/** What happens now and then: notes for the coverage of a hunt. No promise is judged here. */
import type { Bench, Checker } from "./judge.ts";

export function coverageMarks({ mark }: Bench): Checker {
  const lists = new Map<string, number>();
  return {
    answered({ client, method, path, place, query }, status) {
      if (status === 429) mark("request.throttled");
      if (status === 409 && method !== "GET") mark("write.conflict");
      if (method !== "GET" || status !== 200 || place?.key !== undefined || query.has("limit") || query.has("watch"))
        return;
      const name = `${client} ${path}`;
      const count = (lists.get(name) ?? 0) + 1;
      lists.set(name, count);
      if (count === 2) mark("list.repeated");
    },
    ended({ method, isWatch }, how) {
      const isUnknown = how === "disconnected" || how === "deadline" || how === "cancelled";
      if (!isWatch && method !== "GET" && isUnknown) mark("write.unknown");
    },
  };
}
