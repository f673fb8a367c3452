import english from '../../../../texts/agent-list.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tAgentList } = await readTexts(
  english,
  () => import('../../../../texts/agent-list.sw.json', { with: { type: 'json' } }),
)
