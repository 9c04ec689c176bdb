/** For tests: a server that is struck by attacks, of which it is counted what they cost. */
import type { Payload, ResponseHeaders } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { ApiServerOptions } from "./api-server.ts";
import { type Attack, type AttackRequest, attacks } from "./attack-requests.fixture.ts";
import { TestBed } from "./test-bed.fixture.ts";

const tokens = [
  { token: "admin", user: "admin", uid: "1", groups: ["system:masters"] },
  { token: "nobody", user: "nobody", uid: "2", groups: [] },
];
export interface Told {
  status: number;
  headers: ResponseHeaders;
  payload: Payload | undefined;
  /** Events until there was an answer. */
  eventCount: number;
}

export class Struck {
  readonly failures: unknown[] = [];
  readonly bed: TestBed;

  constructor(
    attack: Attack,
    scale: number,
    more: Pick<Partial<ApiServerOptions>, "historyBytesMax" | "store" | "webhooks"> = {},
  ) {
    const kernel = new Kernel({ seed: "attacked", caught: ({ cause }) => this.failures.push(cause) });
    const options = { profile: kubernetesProfile, tokens, authorizationModes: ["RBAC"] as const, ...more };
    this.bed = new TestBed({ ...options, featureGates: { CBORServingAndStorage: true } }, kernel);
    this.bed.advance(1);
    for (const each of attack.prepare?.(scale) ?? []) this.send(each);
    this.bed.advance(2);
  }

  send({ method = "GET", path, headers = {}, body, as = "admin" }: AttackRequest): Told {
    const [plain = "", query = ""] = path.split(/\?(.*)/s);
    const told: Told = { status: 0, headers: {}, payload: undefined, eventCount: 1 };
    const sent = {
      method,
      path: plain,
      query,
      headers: { authorization: `Bearer ${as}`, ...headers },
      body: typeof body === "string" ? new TextEncoder().encode(body) : body,
    };
    const { kernel, process, server } = this.bed;
    kernel.enter(process, () =>
      server.start(sent, {
        respond(status, responseHeaders, payload) {
          told.status = status;
          told.headers = responseHeaders;
          told.payload = payload;
        },
        open: (status) => void (told.status = status),
        frame: () => 0,
        close: () => {},
      }),
    );
    for (const now = kernel.nowMicros(); told.status === 0 && kernel.nextEventMicros === now; told.eventCount++) {
      kernel.step();
    }
    return told;
  }
}

/** Bytes of each slice of an answer. */
export function sliceBytes({ payload }: Told): readonly number[] {
  const slices = payload?.slices?.();
  if (slices === undefined) return [payload?.bytes().length ?? 0];
  const sizes: number[] = [];
  for (let { done, value } = slices.next(); done !== true; { done, value } = slices.next()) {
    sizes.push((value as Uint8Array).length);
  }
  return sizes;
}

export const strike = (name: string, scale: number): { readonly struck: Struck; readonly told: readonly Told[] } => {
  const attack = attacks[name] as Attack;
  const struck = new Struck(attack, scale);
  const told = [...(attack.strike?.() ?? [])].map((each) => struck.send(each));
  return { struck, told };
};
