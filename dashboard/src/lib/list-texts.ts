import english from '../../../texts/lists.en.json' with { type: 'json' }
import { readTexts } from './language.ts'

/** What the pages of lists say. */
export const {
  t: tList,
  rich: richList,
  isKey: isListKey,
} = await readTexts(english, () => import('../../../texts/lists.sw.json', { with: { type: 'json' } }))
