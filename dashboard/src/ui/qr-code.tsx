import { laterPart } from './later.tsx'

// Few visits need one, so what draws it comes when one does.
export const QrCode = laterPart(
  async () => (await import('./qr-image.tsx')).QrImage,
  () => <span className="qr-code" aria-hidden="true" />,
)
