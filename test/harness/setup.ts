import fc from 'fast-check'
import { afterEach, beforeEach } from 'vitest'
import { takeRefused, watchConnections } from './connections.ts'
import { propertySeed } from './seed.ts'

fc.configureGlobal({ seed: propertySeed })

beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(`PROPERTY_SEED=${propertySeed}`)))

watchConnections()
afterEach(() => {
  const refused = takeRefused()
  if (refused.length > 0) throw new Error(`this process connected to hosts that are not configured: ${refused.join(', ')}`)
})
