import fc from 'fast-check'
import { beforeEach } from 'vitest'
import { propertySeed } from './seed.ts'

fc.configureGlobal({ seed: propertySeed })

beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(`PROPERTY_SEED=${propertySeed}`)))
