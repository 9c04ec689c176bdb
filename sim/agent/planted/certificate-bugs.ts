/** Planted bugs of an agent's certificates, around what it gets them with. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { StartedAgentBugName, StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { CertificateKeeperOptions } from "../certificates/certificate-keeper.ts";

const dayMillis = 86_400_000;

const bugsOfCertificates = {
  "agent-renews-at-the-end": (inner) => ({ ...inner, dueMillis: ({ notAfterUnixMillis }) => notAfterUnixMillis }),
  "agent-certificate-of-any-key": (inner, shows) => {
    const { maker, process } = inner;
    const taken = (certificate: string, privateKey: string) => {
      const notBeforeUnixMillis = process.clock.epochUnixMillis + Math.floor(process.clock.nowMicros() / 1000);
      return { certificate, privateKey, notBeforeUnixMillis, notAfterUnixMillis: notBeforeUnixMillis + dayMillis };
    };
    return {
      ...inner,
      maker: {
        request: (wish) => maker.request(wish),
        read: (...pair) => maker.read(...pair) ?? (shows() ? taken(...pair) : undefined),
      },
    };
  },
  // Once a request was denied, the next one is never on its way.
  "agent-denied-is-the-end": (inner, shows) => {
    const { api } = inner;
    let isOver = false;
    const see = (object: JsonObject | undefined): void => void (isOver ||= isDenied(object) && shows());
    return {
      ...inner,
      api: {
        call(request, done) {
          if (isOver && request.method === "POST") return;
          api.call(request, (answer) => {
            see(answer.object);
            done(answer);
          });
        },
        watch: (path, query, hearer) =>
          api.watch(path, query, {
            ...hearer,
            event(type, object) {
              see(object);
              hearer.event(type, object);
            },
          }),
      },
    };
  },
} as const satisfies WrapperBugs<StartedAgentBugName, CertificateKeeperOptions>;

export const certificateOptionsWith = (
  bugs: StartedAgentBugs,
  options: CertificateKeeperOptions,
): CertificateKeeperOptions => wrappedWith(options, bugsOfCertificates, bugs);

function isDenied(request: JsonObject | undefined): boolean {
  const { conditions } = (request?.["status"] ?? {}) as { readonly conditions?: readonly JsonObject[] };
  return conditions?.some(({ type }) => type === "Denied") === true;
}
