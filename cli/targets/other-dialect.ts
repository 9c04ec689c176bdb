/** Whether a server at a URL speaks another dialect than the profile that it is judged by: seen from its API groups. */
import { Client } from "../../conformance/client/client.ts";
import { Recorder } from "../../conformance/client/recorder.ts";
import { wallClock } from "../../conformance/client/wall-clock.ts";
import { dialects } from "../../wire/dialect.ts";
import type { Transport } from "../../wire/ports.ts";

/** A line that says so, with the flag to give; undefined where the groups say nothing of it, or are not to be had. */
export async function otherDialect(transport: Transport, profile: string): Promise<string | undefined> {
  const own = profile === "svc" ? dialects.svc : dialects.kubernetes;
  const other = profile === "svc" ? dialects.kubernetes : dialects.svc;
  const client = new Client(transport, wallClock, new Recorder(wallClock), "touchstone/1 (groups)");
  const { json } = await client.request("GET", "/apis").catch(() => ({ json: undefined }));
  const groups = (json as { readonly groups?: unknown } | undefined)?.groups;
  const names = Array.isArray(groups) ? groups.map((group) => String((group as { name?: unknown } | null)?.name)) : [];
  const count = (suffix: string): number => names.filter((name) => name.endsWith(`.${suffix}`)).length;
  if (count(own.groupSuffix) > 0 || count(other.groupSuffix) === 0) return undefined;
  return `The server's API groups end in .${other.groupSuffix}, and profile ${profile} expects .${own.groupSuffix}: --profile ${other.name} is probably what is meant.`;
}
