import { stepUp } from '../api/step-up.ts'
import { t } from '../lib/language.ts'
import { useStore } from '../lib/store.ts'
import { Dialog } from '../ui/form.tsx'
import { lazyPart } from '../ui/lazy.tsx'
import { SkeletonText } from '../ui/page.tsx'

// Loads on demand: most visits need no second confirmation. It can be cancelled while it loads.
const Asking = lazyPart(
  async () => (await import('./step-up-dialog.tsx')).StepUpDialog,
  ({ answer }) => (
    <Dialog title={t('proof')} onClose={() => answer(false)}>
      <SkeletonText />
    </Dialog>
  ),
)

/** Dialog that opens if the service refuses a request until the person confirms their identity. */
export const StepUp = () => {
  const asking = useStore(stepUp)
  return asking && <Asking answer={asking.answer} />
}
