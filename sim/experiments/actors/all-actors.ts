/** The clients that a scenario can have: one row a kind. */
import type { ClientOf, ScenarioClient } from "../../../scenarios/schema.ts";
import type { Actor, ActorParts } from "./actor.ts";
import { Binder } from "./binder.ts";
import { Caller } from "./caller.ts";
import { Candidate } from "./candidate.ts";
import { Follower } from "./follower.ts";
import { Lister } from "./lister.ts";
import { Monitor } from "./monitor.ts";
import { Node } from "./node.ts";
import { NodeAgent } from "./node-agent.ts";
import { Replicator } from "./replicator.ts";
import { Writer } from "./writer.ts";

const makers: { readonly [Kind in ScenarioClient["kind"]]: (parts: ActorParts, options: ClientOf<Kind>) => Actor } = {
  informer: (parts, options) => new Follower(parts, options),
  writer: (parts, options) => new Writer(parts, options),
  lister: (parts, options) => new Lister(parts, options),
  replicator: (parts, options) => new Replicator(parts, options),
  candidate: (parts, options) => new Candidate(parts, options),
  node: (parts, options) => new Node(parts, options),
  agent: (parts, options) => new NodeAgent(parts, options),
  monitor: (parts, options) => new Monitor(parts, options),
  binder: (parts, options) => new Binder(parts, options),
  caller: (parts, options) => new Caller(parts, options),
};

export function makeActor(parts: ActorParts, client: ScenarioClient): Actor {
  return (makers[client.kind] as (parts: ActorParts, options: ScenarioClient) => Actor)(parts, client);
}
