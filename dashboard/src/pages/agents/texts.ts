import english from '../../../../texts/agents.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** What the pages of agents and keys say. */
export const { t: tAgent, rich: richAgent } = await readTexts(
  english,
  () => import('../../../../texts/agents.sw.json', { with: { type: 'json' } }),
)
