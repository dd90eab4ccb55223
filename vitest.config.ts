import { defineConfig } from 'vitest/config'

/** What stands on the store; the rest of the tests would say nothing else on another engine. */
const ON_EVERY_ENGINE = [
  'src/{store,tools,people,auth,jobs,events}/**/*.test.ts',
  'src/http/{rest,events,gate,sign-in,sign-off-page}.test.ts',
  'src/mcp/{streams,http,sign-off}.test.ts',
  'test/{every-tool,gate,gate-model,gate-race,narrowed,processes,race,examples,streams,restarts}.test.ts',
]

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['{src,test,demo}/**/*.test.ts'],
          // Set by the other project's set-up, for its own tests.
          env: { DONE_TEST_SERVER: '' },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ON_EVERY_ENGINE,
          exclude: ['src/store/{planner,queue}.test.ts'],
          globalSetup: 'test/postgres.ts',
          // One process for many files: what this program expects of a database is worked out once.
          isolate: false,
        },
      },
    ],
  },
})
