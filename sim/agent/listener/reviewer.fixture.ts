/** An API server to ask who a caller is and what it may, for tests of an agent's access. */
import { dialects } from "../../../wire/dialect.ts";
import type { ApiRequest, JsonObject } from "../../contract/http-message.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { ApiAnswer, ApiCall } from "../ports.ts";
import type { StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { accessWith } from "../planted/listener-bugs.ts";
import type { AccessOutcome, AccessSettings, AgentAccess } from "./access.ts";

const second = 1_000_000;
const settings: AccessSettings = {
  anonymous: false,
  reviewsTokens: true,
  tokenMicros: 120 * second,
  mode: "Webhook",
  allowedMicros: 300 * second,
  deniedMicros: 30 * second,
};

/** An API server that knows one token and allows what `allows` says; each question is kept. */
export class Reviewer {
  readonly kernel = new Kernel({ seed: "access" });
  readonly process = this.kernel.process("agent");
  readonly asked: JsonObject[] = [];
  allows = (_attributes: JsonObject): boolean => true;
  failures = 0;
  readonly access: Pick<AgentAccess, "check">;

  constructor({ bugs = {}, ...changes }: Partial<AccessSettings> & { readonly bugs?: StartedAgentBugs } = {}) {
    const api = { call: (request: ApiCall, done: (answer: ApiAnswer) => void) => this.answer(request, done) };
    const ports = { process: this.process, dialect: dialects.kubernetes, nodeName: "n1", api };
    this.access = accessWith(bugs, ports, { ...settings, ...changes });
  }

  private answer({ body = {} }: ApiCall, done: (answer: ApiAnswer) => void): void {
    if (this.failures-- > 0) {
      done({ status: 500, object: undefined });
      return;
    }
    this.asked.push(body);
    const spec = body["spec"] as { token?: string; resourceAttributes?: JsonObject };
    const user = { username: "alice", groups: ["staff"] };
    const status =
      spec.token === undefined
        ? { allowed: this.allows(spec.resourceAttributes ?? {}) }
        : { authenticated: spec.token === "good", ...(spec.token === "good" ? { user } : {}) };
    done({ status: 201, object: { status } });
  }

  ask(request: Partial<ApiRequest>): AccessOutcome | undefined {
    let outcome: AccessOutcome | undefined;
    const whole = { method: "GET", path: "/pods", query: "", headers: {}, ...request };
    this.kernel.enter(this.process, () => this.access.check(whole, (found) => (outcome = found)));
    return outcome;
  }

  pass(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * second);
  }
}

export const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
