import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadConfig, variableNames } from '../../src/config.ts'

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
const example = parseEnv(text)

describe('.env.example', () => {
  it('explains exactly the variables that the service reads', () => {
    expect(Object.keys(example).sort()).toEqual([...variableNames].sort())
  })

  it('shows the defaults: unchanged it has no effect', () => {
    expect(loadConfig(example)).toEqual({ ...loadConfig({}), RAILS: ['sandbox'] })
  })
})
