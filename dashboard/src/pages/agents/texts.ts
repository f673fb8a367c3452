import english from '../../../../texts/agents.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of the pages about agents and keys. */
export const { t: tAgent, rich: richAgent } = await createTranslator(
  english,
  () => import('../../../../texts/agents.sw.json', { with: { type: 'json' } }),
)
