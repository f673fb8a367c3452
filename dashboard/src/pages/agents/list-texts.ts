import english from '../../../../texts/agent-list.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tAgentList } = await createTranslator(
  english,
  () => import('../../../../texts/agent-list.sw.json', { with: { type: 'json' } }),
)
