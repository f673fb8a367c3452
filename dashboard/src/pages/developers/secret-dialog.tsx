import { type Answer, api } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock, Secret } from '../../ui/copy.tsx'
import { Dialog, useChange } from '../../ui/form.tsx'
import { Failure, TextNotice } from '../../ui/page.tsx'
import { tAgent } from '../agents/texts.ts'
import { tDev } from './texts.ts'

type MadeKey = Answer<'/v1/accounts/me/api-keys', 'post'>

/** Shows the key once. If the first answer was lost, the key is lost too, and the person can replace it. */
export const SecretDialog = ({ title, made, onClose }: { title: string; made: MadeKey; onClose: () => void }) => {
  // Creates another key with the same limits. The unseen key stops working immediately.
  const again = useChange(
    (keyed, { id }: MadeKey): Promise<MadeKey> =>
      api.POST('/v1/accounts/me/api-keys/{id}/rotate', { path: { id }, ...keyed({ overlap_seconds: 0 }, id) }),
    { invalidates: ['api-keys'] },
  )
  const current = again.data ?? made
  const { key } = current
  return (
    <Dialog
      title={title}
      onClose={onClose}
      stays={key !== undefined}
      footer={
        key === undefined ? (
          <Button variant="primary" busy={again.isPending} onClick={() => again.mutate(current)}>
            {tDev('secret.again')}
          </Button>
        ) : (
          <Button variant="primary" onClick={onClose}>
            {tDev('secret.saved')}
          </Button>
        )
      }
      wide
    >
      {key === undefined ? (
        <TextNotice tone="warn" title={tDev('secret.lost')} live>
          {tDev('secret.lost_note')}
        </TextNotice>
      ) : (
        <>
          <TextNotice tone="warn" title={tDev('secret.copy')}>
            {tDev('secret.note')}
          </TextNotice>
          <Secret value={key} label={tAgent('kind.key')} />
          <CodeBlock
            label={tDev('secret.first')}
            code={`export API_KEY=…\ncurl ${location.origin}/v1/accounts/me \\\n  -H "Authorization: Bearer $API_KEY"`}
          />
        </>
      )}
      <Failure error={again.error} />
    </Dialog>
  )
}
