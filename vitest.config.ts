import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Rooms of pure functions and tables: their tests share what a thread has imported, which takes less than half of the
 * processor time. A test there leaves nothing behind, in a module or in the process.
 */
const shared = "{wire,sim/{objects,kinds,store,configuration}}/**/*.test.ts";

export default defineConfig({
  test: {
    pool: "threads",
    maxWorkers: availableParallelism(), // the default leaves one processor idle, which on two is half of them
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "shared", include: [shared], isolate: false } },
      {
        extends: true,
        test: {
          name: "apart",
          include: ["{wire,sim,conformance,scenarios,reports,cli,bench,docs}/**/*.test.ts"],
          exclude: ["**/node_modules/**", shared],
        },
      },
    ],
  },
});
