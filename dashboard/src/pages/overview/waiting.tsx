import { useInbox } from '../../api/use-inbox.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Countdown } from '../../ui/time.tsx'
import { subjectWords } from '../approvals/decided-words.ts'

/** Approvals that wait for this person, in any of their workspaces. */
export const Waiting = () => {
  const { workspace } = useSession()
  const { forMe } = useInbox()
  const [next] = forMe
  if (!next) return null
  const only = forMe.length === 1 && next.workspace.id === workspace.id
  return (
    <section className="banner" aria-label="Waiting for you">
      <Icon name="approvals" size={20} />
      <div className="grow">
        <p className="strong">{countWords(forMe.length, 'payment needs', 'payments need')} your approval</p>
        <p className="small">
          {subjectWords(next.approval)}
          {next.workspace.id !== workspace.id && ` in ${next.workspace.name}`},{' '}
          <Countdown to={next.approval.expires_at} suffix=" left" />
        </p>
      </div>
      <LinkButton href={only ? `/approvals/${next.approval.id}` : '/approvals'}>Review</LinkButton>
    </section>
  )
}
