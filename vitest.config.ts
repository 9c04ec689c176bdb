import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Rooms that change what all of a process shares: sockets, processes, the globals of a user's test. */
const bound = "{sim/{disk,grpc,http,streams,testing},conformance/{agent,client},cli,bench}/**/*.test.ts";

/**
 * Tests of all other rooms share what a thread has imported and compiled, which takes a third off their processor time. Such a
 * test leaves nothing behind, in a module or in the process. The bound ones come afterwards, since some look at the memory of
 * their process.
 */
const all = "{wire,sim,conformance,scenarios,reports,cli,bench,docs}/**/*.test.ts";

export default defineConfig({
  test: {
    pool: "threads",
    maxWorkers: availableParallelism(), // the default leaves one processor idle, which on two is half of them
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: [all],
          exclude: ["**/node_modules/**", bound],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "apart", include: [bound], exclude: ["**/node_modules/**"], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
