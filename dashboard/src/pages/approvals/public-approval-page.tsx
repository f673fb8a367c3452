import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { accountQuery, api, approvalMessageQuery, inWorkspace, type Schemas, workspacesQuery } from '../../api/queries.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { chooseNotify } from '../../lib/choices.ts'
import { decidedWords, outcomeOf } from '../../lib/decision-effect.ts'
import { language, t } from '../../lib/language.ts'
import { hasNoSession } from '../../lib/page-state.ts'
import { readSignedText, titleOfText } from '../../lib/signed-text.ts'
import { useNow } from '../../lib/time.ts'
import { signInPath } from '../../shell/paths.ts'
import { PushOffer } from '../../shell/push-offer.tsx'
import { SessionIn } from '../../shell/session.tsx'
import { SinglePage } from '../../shell/single-page.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Countdown, Failure, Notice, SkeletonText } from '../../ui/page.tsx'
import { NoWallet, useWallets } from '../../wallet/wallet.tsx'
import { Decide, useReasonCannotDecide } from './decide.tsx'
import { FactNotices } from './facts.tsx'
import { richLink, tLink } from './link-texts.ts'
import { PasteSignature, SignDecision, type Signing } from './sign-decision.tsx'

type Approval = Schemas['Approval']
type Text = Schemas['SigningMessage']

const ownText = (approval: Approval): Text => {
  const { count, currency } = approvalSubject(approval)
  return { ...approval, message: approval.signing.approve, payments_count: count, currency }
}

/** Page for the holder of a link: the whole text to sign, and every way to decide in this browser. */
export const PublicApprovalPage = ({ id }: { id: string }) => {
  const account = useQuery({ ...accountQuery, enabled: !hasNoSession() })
  const read = useQuery({
    ...approvalMessageQuery(id, 'approve'),
    // Polls, because a page without a session gets no events.
    refetchInterval: ({ state }) => state.data?.status === 'pending' && 5000,
  })
  const own = useOwnApproval(id, account.isSuccess)
  // The shown text must be the decided one: that of the person's own approval if they can see it, else that of the link.
  const text: Text | undefined = own.found ? ownText(own.found.approval) : read.data
  const title = text ? titleOfText(text.message) : tLink('payment_approval')
  return (
    <SinglePage title={title} wide aside={own.found && <Link href={`/approvals/${id}`}>{tLink('open_in_dashboard')}</Link>}>
      <div className="stack">
        <div className="stack-xs">
          <p className="muted">{tLink('payment_approval')}</p>
          <h1>{title}</h1>
        </div>
        {!text && read.isPending && <SkeletonText width="80%" height={40} />}
        {!text && read.isError && <Failure error={read.error} onRetry={() => void read.refetch()} />}
        {text && <PublicApproval id={id} text={text} account={account.data} own={own} />}
      </div>
    </SinglePage>
  )
}

const Result = ({ title, tone, words }: { title: string; tone: 'good' | 'bad' | 'plain'; words: string }) => (
  <div className="stack-xs">
    <h2>{title}</h2>
    <Notice tone={tone} live>
      {words}
    </Notice>
  </div>
)

type Own = ReturnType<typeof useOwnApproval>
type Props = { id: string; text: Text; account: Schemas['AccountWithIdentities'] | undefined; own: Own }

const PublicApproval = ({ id, text, account, own }: Props) => {
  const client = useQueryClient()
  const [decided, setDecided] = useState<Approval | null>(null)
  const isOver = useNow(1000) >= Date.parse(text.expires_at)
  const status = text.status === 'pending' && isOver ? 'expired' : text.status
  const refresh = () => void client.invalidateQueries({ queryKey: ['approval', id] })
  const onDecided = (approval: Approval) => {
    setDecided(approval)
    if (approval.status !== 'rejected') chooseNotify({ approved: true })
    refresh()
  }
  const result = decided && decided.status !== 'pending' ? decided.status : status
  const isFailed = decided !== null && outcomeOf(decided) === 'failed'
  return (
    <>
      {(result !== 'pending' || decided) && (
        <Result
          title={result === 'pending' ? tLink('approval_recorded') : t(`status.${result}`)}
          tone={isFailed ? 'bad' : result === 'pending' || result === 'approved' ? 'good' : 'plain'}
          words={decided ? `${decidedWords(decided)}.` : t(`result.${status === 'pending' ? 'approved' : status}`)}
        />
      )}
      {result === 'pending' && (
        <p className="muted">
          {richLink('time_left_is', {
            time: (
              <span className="strong">
                <Countdown to={text.expires_at} bare />
              </span>
            ),
          })}
        </p>
      )}
      {result !== 'pending' && account && own.found && (
        <SessionIn account={account} view={own.found.view}>
          <PushOffer />
        </SessionIn>
      )}
      {result === 'pending' && <FactNotices facts={text.facts} of={text.payments_count} currency={text.currency} />}
      <SignedLines message={text.message} />
      {result === 'pending' && !decided && (
        <DecisionMethods id={id} text={text} account={account} own={own} onDecided={onDecided} refresh={refresh} />
      )}
    </>
  )
}

type WaysProps = Props & { onDecided: (approval: Approval) => void; refresh: () => void }

/** Every way to decide. The buttons of the preferred way stay in view. */
const DecisionMethods = ({ id, text, account, own, onDecided, refresh }: WaysProps) => {
  const wallets = useWallets()
  const seen = own.found?.approval
  const reject = useQuery({
    ...approvalMessageQuery(id, 'reject'),
    enabled: !own.isPending && !seen,
    // The text may change while it is shown, as the text of an approval may.
    refetchInterval: 5000,
  })
  const messages = { approve: text.message, reject: seen ? seen.signing.reject : reject.data?.message }
  const signing = { id, messages, onDecided }
  if (own.isPending) return <SkeletonText width="100%" height={88} />
  if (own.found && account)
    return (
      <SessionIn account={account} view={own.found.view}>
        <DecideSignedIn approval={own.found.approval} signing={signing} onDecided={refresh} />
      </SessionIn>
    )
  return (
    <>
      {wallets.length === 0 && <NoWallet />}
      <PasteSignature {...signing} />
      <div className="answer-bar">
        <Failure error={own.error} onRetry={own.retry} />
        {account && !own.error && <p className="muted small">{tLink('cannot_decide_here')}</p>}
        {wallets.length > 0 && <SignDecision {...signing} />}
        {!account && (
          <LinkButton
            href={signInPath(`/approve/${id}`)}
            variant={wallets.length === 0 ? 'primary' : 'ghost'}
            size={wallets.length === 0 ? 'large' : 'normal'}
            wide
          >
            {tLink('sign_in_to_decide')}
          </LinkButton>
        )}
      </div>
    </>
  )
}

type Found = { approval: Schemas['Approval']; view: Schemas['WorkspaceView'] }

const readIn = async (view: Found['view'], id: string): Promise<Found | null> => {
  try {
    const options = { path: { id }, ...inWorkspace(view.workspace.id) }
    return { approval: await api.GET('/v1/approvals/{id}', options), view }
  } catch (error) {
    if (hasCode(error, 'not_found') || hasCode(error, 'forbidden')) return null
    throw error
  }
}

/** Finds the approval in any of the person's workspaces, and polls while it is pending. */
const useOwnApproval = (id: string, signedIn: boolean) => {
  const views = useQuery({ ...workspacesQuery, enabled: signedIn })
  const active = views.data?.data.filter(({ membership }) => membership.status === 'active')
  const query = useQuery({
    queryKey: ['approval', id, 'anywhere'],
    enabled: signedIn && active !== undefined,
    refetchInterval: ({ state }) => state.data?.approval.status === 'pending' && 5000,
    queryFn: async () => {
      const found = await Promise.all((active ?? []).map((view) => readIn(view, id)))
      return found.find((one) => one !== null) ?? null
    },
  })
  const failed = [views, query].find(({ isError }) => isError)
  return {
    found: query.data ?? undefined,
    isPending: signedIn && !failed && query.isPending,
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  }
}

type SignedInProps = Pick<Found, 'approval'> & { signing: Signing; onDecided: () => void }

/** Decides with the person's own session or passkey, as in the dashboard. */
const DecideSignedIn = ({ approval, signing, onDecided }: SignedInProps) => {
  const wallets = useWallets()
  const cannotDecide = useReasonCannotDecide(approval)
  return (
    <>
      {!cannotDecide && wallets.length > 0 && (
        <div className="stack-s">
          <p className="muted small">{tLink('or_sign_with_wallet')}</p>
          <SignDecision {...signing} />
        </div>
      )}
      <div className="answer-bar">
        <Decide approval={approval} onDecided={onDecided} />
      </div>
    </>
  )
}

const isWarning = (line: string): boolean => /^Warning\b/.test(line)

/** "Label: value", or an item of a list. Shown word for word. */
const Line = ({ line }: { line: string }) => {
  const [, label, value] = /^([^:]{1,60}: )(.+)$/.exec(line) ?? []
  const isItem = line.startsWith('- ')
  return (
    <p className={isItem ? 'signed-item' : undefined}>
      {label && value && !isItem ? (
        <>
          <span className="muted">{label}</span>
          <span className={/\b[A-Z]+ NOT MATCH\b/.test(value) ? 'strong bad-text' : isWarning(line) ? 'strong' : undefined}>
            {value}
          </span>
        </>
      ) : (
        line
      )}
    </p>
  )
}

/** The whole signed text, word for word, with nothing folded away. */
const SignedLines = ({ message }: { message: string }) => {
  const { opening, lines, binding } = readSignedText(message)
  return (
    <section className="stack signed-text" aria-label={t('what_you_sign')}>
      {language !== 'en' && <p className="strong">{tLink('english_binds')}</p>}
      <div className="signed-lines" lang="en">
        <p className="muted">{opening}</p>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines of a list may be alike
          <Line key={`${index} ${line}`} line={line} />
        ))}
      </div>
      <div className="signed-binding" lang="en">
        {binding.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
    </section>
  )
}
