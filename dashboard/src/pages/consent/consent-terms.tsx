import type { Permission } from '../../../../src/auth/permissions.ts'
import { controlsWords } from '../../lib/controls-words.ts'
import { capitalized } from '../../lib/list-words.ts'
import { isPowerful, wordsOfPermission } from '../../lib/permission-words.ts'
import { fullTime } from '../../lib/time.ts'
import type { Controls } from '../../ui/controls-fields.tsx'
import { Facts } from '../../ui/layout.tsx'

const inSentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** What moves money or changes rules is always written out; the rest where it is short. */
const canWords = (chosen: readonly Permission[]): string => {
  const [powerful, harmless] = [chosen.filter(isPowerful), chosen.filter((permission) => !isPowerful(permission))]
  const rest = harmless.length <= 2 ? harmless.map(wordsOfPermission) : [`${harmless.length} more permissions, listed below`]
  return [...powerful.map(wordsOfPermission), ...rest].map((words, at) => (at === 0 ? words : inSentence(words))).join('; ')
}

const cannotWords = (chosen: readonly Permission[]): string =>
  capitalized(
    [
      ...(chosen.includes('payment.create') ? [] : ['move money']),
      ...(chosen.includes('beneficiary.manage') ? [] : ['add beneficiaries']),
      'approve payments',
      'raise its limits',
      'change policies or sign-in methods',
    ].join(', '),
  )

const newPayees: Readonly<Record<'allow' | 'require_approval' | 'deny', string>> = {
  allow: 'It pays beneficiaries that it adds itself without asking you.',
  require_approval: 'The first payment to each beneficiary that it adds waits for you.',
  deny: 'It can’t pay beneficiaries that it adds.',
}

type Props = {
  chosen: readonly Permission[]
  /** Null while they can't be read or must still be chosen. */
  controls: Controls | null
  /** Whether the app asked for any of the amounts; else they are this page's suggestion. */
  requested: boolean
  currency: string
  endsAt: string | null
}

/** What is allowed, in four lines: what it can, what it can't, its limits and its end. They follow the choices below them. */
export const ConsentTerms = ({ chosen, controls, requested, currency, endsAt }: Props) => {
  const pays = chosen.includes('payment.create')
  const { new_payees = 'require_approval', ...amounts } = controls ?? {}
  return (
    <div className="consent-terms">
      <Facts
        facts={{
          'It can': chosen.length > 0 ? canWords(chosen) : 'Nothing yet: choose a permission below',
          'It can’t': cannotWords(chosen),
          Limits: pays ? (
            <>
              {controls ? controlsWords(amounts, currency, () => 'chosen beneficiaries') : 'Choose them below'}
              {!requested && controls && <span className="faint">, suggested by this page: the app asked for none</span>}
              {chosen.includes('beneficiary.manage') && <>. {newPayees[new_payees]}</>}
            </>
          ) : (
            'It moves no money, so it needs none'
          ),
          Ends: endsAt ? `${fullTime(endsAt)}, or when you revoke it` : 'When you revoke it',
        }}
      />
    </div>
  )
}
