import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They take a minute and more: begun last, one of them runs on alone while the other processor has nothing to do. */
const longest = ['dashboard/dashboard.test.ts', 'start/processes.test.ts', 'guides/guides.test.ts', 'faults/']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.includes(`/test/${name}`))
      return place === -1 ? longest.length : place
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', '**/node_modules/**'],
    globalSetup: ['test/harness/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // Processes, not threads: one that crashes must not take the other with it.
    pool: 'forks',
    // Each file starts a service of its own on a database of its own; only the modules are loaded once for all of a worker's files.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
})
