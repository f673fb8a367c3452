import english from '../../../texts/limits.en.json' with { type: 'json' }
import { readTexts } from './language.ts'

export const { t: tLimit } = await readTexts(english, () => import('../../../texts/limits.sw.json', { with: { type: 'json' } }))
