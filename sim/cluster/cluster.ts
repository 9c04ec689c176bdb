/**
 * A cluster on a kernel: a store, a network, and members, each a process under its own name. It is put together from
 * the ground up (store, servers, controllers, nodes, clients), and what comes later is given what is there already:
 *
 *     const cluster = new Cluster({ kernel });
 *     cluster.addServer("apiserver", () => ({ controllers: noControllers }));
 *     cluster.addControllers("controllers", {});
 *     const node = cluster.add("node-1", (process) => startAgent(process, cluster.api(process)));
 *     node.crash();
 *     node.start();
 *
 * Who drives the kernel's clock, and who carries requests in from sockets, is not its business.
 */
import type { ApiServer } from "../apiserver/api-server.ts";
import { linkedHandler } from "../client/linked-handler.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import { type ControllersOptions, startControllers } from "../control/controllers.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { Address, Network, type NetworkOptions } from "../network/network.ts";
import { RevisionStore } from "../store/revision-store.ts";
import { Member } from "./member.ts";
import { type ServerOptions, startServer } from "./server.ts";

export interface ClusterOptions {
  readonly kernel: Kernel;
  /** Default: an empty one. */
  readonly store?: RevisionStore;
  /** Links between members. Default: messages take no time, and nothing is cut. */
  readonly network?: NetworkOptions;
}

/** What a server is started with. */
export type ServerSettings = Omit<ServerOptions, "process" | "store">;

export class Cluster {
  readonly kernel: Kernel;
  readonly store: RevisionStore;
  readonly network: Network;
  private readonly addresses = new Map<string, Address<ApiHandler>>();
  private readonly membersByName = new Map<string, Member<unknown>>();

  constructor({ kernel, store = new RevisionStore(), network = {} }: ClusterOptions) {
    this.kernel = kernel;
    this.store = store;
    this.network = new Network(kernel.process("network"), network);
  }

  /** In order of joining. */
  get members(): ReadonlyMap<string, Member<unknown>> {
    return this.membersByName;
  }

  /** Starts a member; after a crash, `Member.start` makes its next incarnation in the same way. Throws for a name that is taken. */
  add<Made>(name: string, make: (process: Process) => Made): Member<Made> {
    invariant(!this.membersByName.has(name), "each member of a cluster has a name of its own", name);
    const member = new Member(this.kernel, name, make);
    this.membersByName.set(name, member);
    member.start();
    return member;
  }

  /** An API server on the cluster's store, reached under its name. `settings` are asked for at each start. */
  addServer(name: string, settings: (process: Process) => ServerSettings): Member<ApiServer> {
    const address = new Address<ApiHandler>(name);
    this.addresses.set(name, address);
    return this.add(name, (process) => {
      const server = startServer({ ...settings(process), process, store: this.store });
      address.listen(process, server);
      return server;
    });
  }

  /** Controllers in a process of their own, as clients of a server over the network. Default: of the first server. */
  addControllers(name: string, options: Omit<ControllersOptions, "process" | "server">, server?: string): Member<void> {
    return this.add(name, (process) => startControllers({ ...options, process, server: this.api(process, server) }));
  }

  /** A server as `client` reaches it over the network. Default: the first. While it is down, calls are refused. */
  api(client: Process, server?: string): ApiHandler {
    const address = server === undefined ? [...this.addresses.values()][0] : this.addresses.get(server);
    invariant(address !== undefined, "a client of a server that the cluster does not have", server);
    return linkedHandler(this.network, client, address);
  }
}
