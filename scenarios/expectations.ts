/** What can be expected of a run. The simulator's checkers judge by these names. */

/** By name: what it means, and when it is judged. */
export const expectations = {
  "informer.converges": "Every informer holds exactly what the server holds.",
  "watch.expired-is-gone":
    "A watch from a version that is no longer retained was told 410; none was served with a gap.",
  "watch.ordered": "The versions of the events of each watch rise.",
  "watch.reliable": "Each watch had every change since its version.",
  "cluster.converges": "Once nothing goes wrong any more, every client comes to where it wants to be.",
  "replicas.settled": "Each parent has exactly the children that it asks for.",
} as const;

/** What is judged after every event of every run, unless the scenario leaves it out. */
const invariants = {
  "store.linearizable":
    "A read shows at least what was acknowledged before it began, and a write lands after all of that.",
  "store.durable": "What was acknowledged is still there after a crash.",
  "store.one-content": "One object at one version has one content, whoever serves it.",
  "store.version-rises": "The versions that one client is told never fall.",
  "watch.stream":
    "Each watch has every change of its collection since its version, once, in order; a bookmark passes over none.",
  "watch.one-live": "A client has one open watch of a collection at a time.",
  "lists.whole": "The pages of one list are the collection at one version: nothing is lost, nothing comes twice.",
  "lists.resumable": "A list whose continue token has expired is told how to go on.",
  "objects.finalized": "An object with a finalizer is not removed.",
  "objects.uid":
    "A name keeps its uid until it is deleted, and no uid comes twice; a deletion that has begun is not taken back.",
  "informer.callbacks": "A handler hears of an update when the version has changed, and not otherwise.",
  "requests.bounded": "No client asks without end: 100 requests in a second are more than it needs.",
  "leases.one-holder": "At most one candidate believes that it leads.",
  "pods.one-node": "A pod of one name runs on one node at a time, and is not moved.",
  "pods.own-status": "The status of a pod is told by the node that runs this very pod.",
  "containers.one-instance": "A container of a pod runs once at a time, and on the pod's own node.",
  "mirrors.equal": "What a server shows of a static pod is what its manifest says.",
  "evictions.due":
    "A threshold evicts one pod at a time, none that is exempt, and only from its crossing (a soft one: from the end of its grace period) until so much more is there again.",
  "evictions.made": "An agent that sees by new figures that it has to make room does so, or finds nobody who may go.",
  "evictions.ranked":
    "Whom a threshold evicts is first of those that may go: without figures, beyond its request, of the lowest priority, farthest beyond its request.",
  "pressure.told":
    "A node tells of pressure from the crossing of a threshold until its transition period after the last look below it.",
  "nodes.judged": "A node is called unready only when its lease was not renewed for the grace period.",
  "nodes.steady": "A node that runs and is reached is not called unready.",
  "budgets.kept": "An eviction that was granted leaves as many healthy pods as the budget asks for.",
  "events.kept": "An event lives for its time at least, and its end is told.",
  "garbage.owned": "What is collected had an owner, and none of them is left.",
} as const;

export type ExpectationName = keyof typeof expectations;
export type InvariantName = keyof typeof invariants;
export type RequirementName = ExpectationName | InvariantName;

export const expectationNames = Object.keys(expectations) as [ExpectationName, ...ExpectationName[]];
export const invariantNames = Object.keys(invariants) as [InvariantName, ...InvariantName[]];

/** What it means, in one sentence. */
export const requirementText = (name: RequirementName): string => ({ ...expectations, ...invariants })[name];

/** What a hunt wants to see at least once over its seeds: a run in which none of it happens tests nothing. */
const marks = {
  "watch.expired": "a watch was told that its version is gone",
  "watch.broken": "an open watch broke",
  "list.repeated": "an informer listed again",
  "list.expired": "a continue token expired",
  "write.conflict": "a write met another one: 409",
  "write.unknown": "the outcome of a write is unknown",
  "server.crashed": "a server crashed",
  "client.crashed": "a client crashed",
  "request.throttled": "a request was told 429",
  "message.lost": "a message was lost",
  "request.doubled": "a request arrived twice",
  "lease.changed-hands": "a lease went from one holder to another",
  "node.unready": "a node was called unready",
  "pod.evicted": "an agent evicted a pod",
  "pod.evicted-softly": "a soft threshold evicted a pod, after its grace period",
  "node.rebooted": "a machine went down and came up again",
  "pod.replaced": "a pod was made again under its old name",
  "event.expired": "an event reached the end of its life",
} as const;

export type MarkName = keyof typeof marks;
export const markNames = Object.keys(marks) as [MarkName, ...MarkName[]];
