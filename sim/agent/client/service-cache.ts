/**
 * The cluster's services as the agent knows them. They are followed from the first pod on: a node without pods asks nobody.
 * Source: the published agent, which waits for a first list before it starts containers of the server's pods.
 */
import { Reflector } from "../../client/reflector.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { type Task, wait } from "../task.ts";
import type { AgentApi } from "./agent-api.ts";
import { follow } from "./followed.ts";
import { agentsHabits } from "./reflector-habits.ts";

const path = "/api/v1/services";

export class ServiceCache {
  private readonly process: AgentApi["process"];
  private readonly reflector: Reflector;
  private byNamespace = new Map<string, Map<string, JsonObject>>();
  private hasBegun = false;
  /** Undefined: nothing was answered yet. */
  private answered: "listed" | "refused" | undefined;
  private waiting = new Set<() => void>();

  constructor(api: AgentApi) {
    const client = {
      process: api.process,
      call: (request: Parameters<AgentApi["call"]>[0], done: Parameters<AgentApi["call"]>[1]) =>
        api.call(request, (answer) => {
          // A server without services has none to tell of.
          if (answer.status === 404) this.answer("listed");
          else if (answer.status !== 200) this.answer("refused");
          done(answer);
        }),
      watch: api.watch.bind(api),
    };
    const hearer = {
      replaced: (services: readonly JsonObject[]) => {
        this.byNamespace = new Map();
        for (const service of services) this.put(service);
        this.answer("listed");
      },
      changed: (service: JsonObject) => this.put(service),
      gone: (service: JsonObject) => {
        const { namespace = "", name = "" } = metadataOf(service);
        const others = this.byNamespace.get(namespace);
        others?.delete(name);
        if (others?.size === 0) this.byNamespace.delete(namespace);
      },
    };
    this.process = api.process;
    this.reflector = new Reflector(client, path, hearer, agentsHabits(api.process, path, ""));
  }

  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    follow(this.process, path, this.reflector);
  }

  /** Once the first list has come, or was refused: then what is known is not all. */
  *listed(): Task<boolean> {
    this.begin();
    if (this.answered === undefined) {
      yield* wait<undefined>((resume) => {
        const told = (): void => resume(undefined);
        this.waiting.add(told);
        return () => void this.waiting.delete(told);
      });
    }
    return this.answered === "listed";
  }

  inNamespace(namespace: string): Iterable<JsonObject> {
    return this.byNamespace.get(namespace)?.values() ?? [];
  }

  named(namespace: string, name: string): JsonObject | undefined {
    return this.byNamespace.get(namespace)?.get(name);
  }

  private put(service: JsonObject): void {
    const { namespace = "", name = "" } = metadataOf(service);
    let others = this.byNamespace.get(namespace);
    if (others === undefined) this.byNamespace.set(namespace, (others = new Map()));
    others.set(name, service);
  }

  private answer(what: "listed" | "refused"): void {
    if (this.answered !== "listed") this.answered = what;
    const { waiting } = this;
    this.waiting = new Set();
    for (const told of waiting) told();
  }
}
