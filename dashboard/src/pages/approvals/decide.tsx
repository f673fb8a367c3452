import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { type Choice, isExcludedRequester, ownDecision } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/choices.ts'
import { rich, t } from '../../lib/language.ts'
import { listWords } from '../../lib/words.ts'
import { hasPasskeys } from '../../passkey/passkey.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Notice, TextNotice } from '../../ui/page.tsx'
import {
  DecideDialog,
  EarlierDecisionNotice,
  earlierDecisionIn,
  useAfterDecision,
  useDecideByPasskey,
  useOwnPasskeys,
} from './decide-dialog.tsx'

type Approval = Schemas['Approval']

/** Reason why the reader cannot decide this approval. Null if they can. */
export const useReasonCannotDecide = (approval: Approval): string | null => {
  const { can, account } = useSession()
  const people = usePeople()
  const { approver_ids: named } = approval
  if (!can('approval.decide')) return t('hindrance.role')
  if (named && !named.includes(account.id))
    return named.length > 0 ? t('hindrance.named', { names: listWords(named.map(people), 'and') }) : t('hindrance.no_one')
  if (isExcludedRequester(approval, account.id)) return t('hindrance.requester')
  return null
}

/** Decision buttons, always in view. If the reader has a passkey, its button comes first. */
export const Decide = ({ approval, onDecided }: { approval: Approval; onDecided: () => void }) => {
  const [deciding, setDeciding] = useState<Choice | null>(null)
  const cannotDecide = useReasonCannotDecide(approval)
  const approved = ownDecision(approval, useSession().account.id) === 'approve'
  const stop = approval.refusal_now
  const approves = !approved && !stop
  const passkeys = useOwnPasskeys()
  const after = useAfterDecision()
  const signing = useDecideByPasskey(approval, passkeys, (decided) => {
    after([decided])
    onDecided()
  })
  const bySignature = approval.approval_proof === 'signature'
  const byPasskey = passkeys.length > 0
  const approve = () => {
    if (!byPasskey) setDeciding('approve')
    else if (!signing.isPending) signing.mutate('approve')
  }
  const reject = () => setDeciding('reject')
  const hasApproveButton = approves && (byPasskey || !bySignature)
  useShortcuts(cannotDecide ? {} : { ...(hasApproveButton && { a: approve }), r: reject })
  const late = earlierDecisionIn(signing.error)
  if (late) return <EarlierDecisionNotice late={late} />
  if (cannotDecide) return <Notice tone="info">{cannotDecide}</Notice>
  return (
    <div className="stack-s">
      {approved && <Notice tone="info">{t('you_approved')}</Notice>}
      {stop && (
        <TextNotice tone="warn" title={t('stopped')}>
          {t('stopped.until', { message: stop.message })}
        </TextNotice>
      )}
      {approves && bySignature && !byPasskey && (
        <TextNotice tone="info" title={t('only_signed')}>
          {rich('or_sign_below', {
            passkey: hasPasskeys() ? <Link href="/account">{t('add_passkey')}</Link> : t('add_passkey_there'),
          })}
        </TextNotice>
      )}
      <Failure error={signing.error} />
      <div className="decide-bar">
        {approves && byPasskey && (
          <Button variant="primary" size="large" wide icon="fingerprint" busy={signing.isPending} onClick={approve}>
            {t('by_passkey')}
          </Button>
        )}
        {approves && !bySignature && (
          <Button
            variant={byPasskey ? 'secondary' : 'primary'}
            size="large"
            wide
            icon="check"
            onClick={() => setDeciding('approve')}
          >
            {t(byPasskey ? 'approve_without' : 'approve')} {!byPasskey && <kbd>a</kbd>}
          </Button>
        )}
        <Button variant="danger" size="large" wide icon="cross" onClick={reject}>
          {t('reject')} <kbd>r</kbd>
        </Button>
      </div>
      {deciding && (
        <DecideDialog
          approvals={[approval]}
          choice={deciding}
          onDecided={() => {
            setDeciding(null)
            onDecided()
          }}
          onClose={() => setDeciding(null)}
        />
      )}
    </div>
  )
}
