import { defineConfig } from 'vitest/config'

/** What stands on the store; the rest of the tests would say nothing else on another engine. */
const ON_EVERY_ENGINE = [
  'src/{store,tools,people,auth,jobs,events}/**/*.test.ts',
  'src/http/{health,rest,events,gate,sign-in,sign-off-page,members,second-factor,passkey,signed-sign-off,oauth,oauth-misuse,oauth-client}.test.ts',
  'src/mcp/{streams,http,sign-off}.test.ts',
  'test/{accounts,every-tool,gate-model,narrowed,read-token,examples}.test.ts',
]

/** What starts many processes, or asks much the same of every door: with `DONE_LONG=1` on every engine as well. */
const ON_EVERY_ENGINE_WHERE_LONG = [
  'src/cli/{backup,doctor,serve}.test.ts',
  'test/{access,canary,gate,gate-oauth,gate-oauth-asking,gate-race,processes,race,restarts,streams,verify}.test.ts',
]

/** Files that put something in the place of a module, or count what their process does. */
const ALONE = ['src/connectors/folder-wall.test.ts', 'src/outbound/*.test.ts']

/** No server, although the set-up of the suites on PostgreSQL has named one. */
const EMBEDDED = { DONE_TEST_SERVER: '' }

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
          exclude: ALONE,
          env: EMBEDDED,
          // One process for many files: to load the program takes longer than most of them.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, env: EMBEDDED } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: process.env.DONE_LONG
            ? [...ON_EVERY_ENGINE, ...ON_EVERY_ENGINE_WHERE_LONG]
            : ON_EVERY_ENGINE,
          exclude: ['src/store/{planner,queue}.test.ts'],
          globalSetup: 'test/postgres.ts',
          isolate: false,
        },
      },
    ],
  },
})
