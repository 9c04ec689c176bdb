/**
 * Which bindings name the same role, told without comparing names: these may be megabytes long, and a decision passes over hundreds
 * of bindings. A name is compared with others when its binding is put into the index, and not again.
 */

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/** Stands for one role, be there such a role or not. The same for all bindings in a scope that name it. */
export interface NamedRole {
  bindingCount: number;
}

/** The roles that bindings of one scope name. */
export class RoleNames {
  readonly #byKind = new Map<string, Map<string, NamedRole>>();

  /** A binding that names this one is put in. */
  take({ kind, name }: RoleRef): NamedRole {
    let byName = this.#byKind.get(kind);
    if (byName === undefined) this.#byKind.set(kind, (byName = new Map<string, NamedRole>()));
    let named = byName.get(name);
    if (named === undefined) byName.set(name, (named = { bindingCount: 0 }));
    named.bindingCount++;
    return named;
  }

  /** One that does is taken out. */
  leave({ kind, name }: RoleRef, named: NamedRole): void {
    if (--named.bindingCount === 0) this.#byKind.get(kind)?.delete(name);
  }
}
