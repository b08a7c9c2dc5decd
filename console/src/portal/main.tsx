import { render } from 'preact';
import { takeLink } from './link.ts';
import { PortalApi } from './portal-api.ts';
import { PortalApp } from './app.tsx';
import '../style/tokens.css';
import '../style/page.css';
import '../style/controls.css';
import '../style/parts.css';
import './portal.css';

// First of all, so that nothing else sees the secret.
const link = takeLink();
const place = document.getElementById('portal') as HTMLElement;
place.replaceChildren();
render(<PortalApp api={new PortalApi()} link={link} />, place);
