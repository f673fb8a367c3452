import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { chooseSeed } from './test/harness/seed.ts'

/**
 * Test files to start first. `stream-memory` forces garbage collection repeatedly, which takes six times as long in a worker that
 * has loaded every module. The others are slow or mostly wait: started last, one would run alone while the second core is idle.
 */
const first = [
  'notifications/stream-memory.test.ts',
  'dashboard/dashboard.',
  'dashboard/pages.',
  'operations/',
  'start/',
  'faults/',
  'rails-flows/',
  'guides/guides.test.ts',
]

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = first.findIndex((name) => moduleId.includes(`/test/${name}`))
      return index === -1 ? first.length : index
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', '**/node_modules/**'],
    globalSetup: ['test/harness/global-setup.ts'],
    setupFiles: ['test/harness/setup.ts'],
    // Chosen once, so that all workers have the same one.
    env: { PROPERTY_SEED: String(chooseSeed(process.env.PROPERTY_SEED)) },
    sequence: { sequencer: InOrder },
    // Processes, not threads: one that crashes must not take the other with it.
    pool: 'forks',
    // Each file starts a service of its own on a database of its own; only the modules are loaded once for all of a worker's files.
    isolate: false,
    // Twice the processors that the suite is for: while some wait, for a process or for a timeout, the others go on.
    maxWorkers: 4,
    // Far beyond what anything takes: they end what hangs, and measure nothing. A machine may be twenty times slower than ours.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
  },
})
