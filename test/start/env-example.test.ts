import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadConfig, variableNames } from '../../src/config.ts'

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
const example = parseEnv(text)

describe('.env.example', () => {
  it('explains every variable that the service reads, and none that it does not', () => {
    expect(Object.keys(example).sort()).toEqual([...variableNames].sort())
  })

  it('shows the defaults: as it stands it changes nothing', () => {
    expect(loadConfig(example)).toEqual({ ...loadConfig({}), RAILS: ['sandbox'] })
  })
})
