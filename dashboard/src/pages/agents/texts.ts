import english from '../../../../texts/agents.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** Texts of the pages about agents and keys. */
export const { t: tAgent, rich: richAgent } = await readTexts(
  english,
  () => import('../../../../texts/agents.sw.json', { with: { type: 'json' } }),
)
