import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { approvalsQuery } from '../../api/queries.ts'
import { countWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Countdown } from '../../ui/time.tsx'

/** What waits for the reader, before anything else. */
export const Waiting = () => {
  const { can } = useSession()
  const { data } = useInfiniteQuery({ ...approvalsQuery('pending'), enabled: can('approval.decide') })
  const waiting = data?.pages[0]?.data ?? []
  const [next] = [...waiting].sort((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at))
  if (!next) return null
  return (
    <section className="banner" aria-label="Waiting for you">
      <Icon name="approvals" size={20} />
      <div className="grow">
        <p className="strong">{countWords(waiting.length, 'payment waits', 'payments wait')} for your decision</p>
        <p className="small">
          <Link href={`/approvals/${next.id}`}>
            {moneyText(next.payment.amount_minor, next.payment.currency)} to {next.payment.beneficiary.display_name}
          </Link>
          , <Countdown to={next.expires_at} /> left
        </p>
      </div>
      <LinkButton href="/approvals">Decide</LinkButton>
    </section>
  )
}
