import { createHash } from 'node:crypto'

/**
 * The look of the plain pages, in the values of the design (design: page, "Tokens"). Inline, so that a page is one
 * request and works offline; the policy of content allows exactly this text by its hash, and no other style or script.
 */
const LIGHT = `--bg:oklch(0.968 0.004 165);--surface:oklch(0.993 0.0015 165);--raised:oklch(1 0 0);
--sunken:oklch(0.950 0.005 165);--line:oklch(0.910 0.006 165);--line-strong:oklch(0.845 0.008 165);
--line-control:oklch(0.620 0.012 165);--text:oklch(0.240 0.014 168);--text-2:oklch(0.420 0.014 168);
--text-3:oklch(0.515 0.014 168);--accent:oklch(0.470 0.098 164);--accent-hover:oklch(0.420 0.090 164);
--on-accent:oklch(0.995 0.005 165);--accent-soft:oklch(0.945 0.030 165);--work:oklch(0.500 0.135 252);
--wait:oklch(0.530 0.112 70);--wait-soft:oklch(0.952 0.040 82);--stop:oklch(0.465 0.165 31);
--stop-soft:oklch(0.950 0.025 35);--out:oklch(0.490 0.115 322);--mk-l:0.885;--mk-c:0.055;--mk-t:0.32;
--lift:0 1px 2px oklch(0.24 0.014 168/0.05)`

const DARK = `--bg:oklch(0.168 0.007 172);--surface:oklch(0.200 0.008 172);--raised:oklch(0.240 0.009 172);
--sunken:oklch(0.150 0.006 172);--line:oklch(0.280 0.010 172);--line-strong:oklch(0.350 0.012 172);
--line-control:oklch(0.560 0.014 172);--text:oklch(0.945 0.006 168);--text-2:oklch(0.775 0.012 168);
--text-3:oklch(0.672 0.013 168);--accent:oklch(0.800 0.125 164);--accent-hover:oklch(0.850 0.115 164);
--on-accent:oklch(0.200 0.030 165);--accent-soft:oklch(0.292 0.042 166);--work:oklch(0.765 0.108 250);
--wait:oklch(0.845 0.118 84);--wait-soft:oklch(0.300 0.042 78);--stop:oklch(0.715 0.150 33);
--stop-soft:oklch(0.295 0.043 32);--out:oklch(0.775 0.100 322);--mk-l:0.36;--mk-c:0.06;--mk-t:0.93;
--lift:0 1px 2px oklch(0 0 0/0.3)`

/** Twelve hues of equal lightness for agents' marks; the letters carry identity. */
const HUES = Array.from({ length: 12 }, (_, i) => `.h${i}{--h:${15 + i * 30}}`).join('')

export const STYLE = `:root{color-scheme:light dark;${LIGHT};
--ui:"Hanken Grotesk Variable","Hanken Grotesk",system-ui,-apple-system,"Segoe UI",sans-serif;
--said:"Source Serif 4 Variable","Source Serif 4",Georgia,"Times New Roman",serif;
--mono:"Geist Mono Variable",ui-monospace,"SF Mono",Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{${DARK}}}
*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:450 14px/21px var(--ui);font-variant-numeric:tabular-nums;
-webkit-font-smoothing:antialiased;text-rendering:optimizeLegibility;overflow-wrap:anywhere}
h1,h2,h3,p,ul,ol,dl,dd,figure,blockquote,pre{margin:0;padding:0}ul,ol{list-style:none}
a{color:inherit;text-decoration-color:var(--line-control);text-underline-offset:3px}a:hover{text-decoration-color:currentColor}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.top{max-width:864px;margin:0 auto;padding:14px 32px;display:flex;align-items:center;gap:16px}
.brand{display:flex;align-items:center;gap:9px;font-weight:650;font-size:15px;letter-spacing:-.012em;text-decoration:none}
.brand svg{width:20px;height:20px;display:block}
.top nav{display:flex;gap:16px;color:var(--text-2)}.top nav a{text-decoration:none}.top nav a:hover{text-decoration:underline}
.top .me{margin-left:auto;display:flex;align-items:center;gap:10px;color:var(--text-2)}
main{max-width:864px;margin:0 auto 48px;padding:24px 32px 28px;background:var(--surface);border-radius:10px;
box-shadow:0 0 0 1px var(--line),var(--lift)}
h1{font-size:20px;line-height:27px;font-weight:630;letter-spacing:-.014em;text-wrap:pretty}
h2{font-size:15px;line-height:20px;font-weight:620;margin:28px 0 8px}
.crumb{display:flex;gap:8px;flex-wrap:wrap;font-size:12px;line-height:16px;color:var(--text-3);margin-bottom:6px}
.crumb b{font-weight:550;color:var(--text-2)}
.lead{color:var(--text-2);margin-top:8px;max-width:66ch}.t2{color:var(--text-2)}.t3{color:var(--text-3)}.bad{color:var(--stop);font-weight:550}
.small{font-size:12px;line-height:17px}.row{display:flex;align-items:flex-start;gap:8px;flex-wrap:wrap}
.row+.row{margin-top:2px}
code,.mono{font-family:var(--mono);font-size:.923em;letter-spacing:-.01em}
code{background:var(--sunken);padding:1px 5px;border-radius:4px}
pre{font:12.5px/18px var(--mono);background:var(--sunken);border-radius:7px;padding:10px 12px;white-space:pre-wrap;color:var(--text-2)}
.ask{display:flex;align-items:flex-start;gap:8px;color:var(--text-2);margin-top:8px}.ask b{font-weight:600;color:var(--text)}
.mk{flex:none;width:20px;height:20px;display:inline-grid;place-items:center;font:600 9px/1 var(--ui);margin-top:.5px}
.mk.m{width:24px;height:24px;font-size:11px}
.mk.person{border-radius:50%;background:var(--text-2);color:var(--surface)}
.mk.agent{background:oklch(var(--mk-l) var(--mk-c) var(--h,165));color:oklch(var(--mk-t) .05 var(--h,165));
clip-path:polygon(0 14%,3% 5%,14% 0,66% 0,100% 34%,100% 86%,97% 95%,86% 100%,14% 100%,3% 95%,0 86%)}
${HUES}
.st{width:15px;height:15px;flex:none;display:block;margin-top:3px}
.st.open,.st.off{color:var(--text-3)}.st.work{color:var(--work)}.st.wait{color:var(--wait)}.st.stop{color:var(--stop)}.st.done{color:var(--accent)}
.ic{width:16px;height:16px;flex:none;display:block}
.ledger{margin-top:16px;border:1px solid var(--line-strong);border-radius:10px;background:var(--raised);overflow:hidden}
.ledger>header{display:flex;align-items:center;gap:8px;flex-wrap:wrap;padding:8px 14px;border-bottom:1px solid var(--line);font-size:12px;color:var(--text-2)}
.ledger>header b{font-weight:600;color:var(--text);font-size:14px}
.lr{display:grid;grid-template-columns:118px minmax(0,1fr);gap:0 14px;border-bottom:1px solid var(--line);padding:9px 14px}
.lr:last-child{border-bottom:0}
.lr>dt{color:var(--text-3);font-size:12px;line-height:20px}.lr>dt b{display:block;color:var(--text);font-weight:600;font-size:14px}
.fld{display:grid;grid-template-columns:96px minmax(0,1fr) auto;gap:10px;padding:1px 0}.fld>span:first-child{color:var(--text-3)}
.by{display:flex;gap:6px;align-items:flex-start;font-size:12px;line-height:21px;color:var(--text-3);margin-left:auto;white-space:nowrap}
.keep{white-space:pre-wrap}
ins,del{text-decoration-thickness:1px;text-underline-offset:3px;border-radius:3px;padding:0 2px;box-decoration-break:clone;-webkit-box-decoration-break:clone}
ins{background:var(--accent-soft);text-decoration-color:var(--accent)}
del{background:var(--stop-soft);color:var(--text-2);text-decoration-color:var(--stop)}
.ev{display:grid;gap:8px}.ev figure{border:1px solid var(--line-strong);border-radius:7px;overflow:hidden;background:var(--surface)}
.ev pre{border-radius:0;border-bottom:1px solid var(--line);max-height:280px;overflow:auto;font-family:var(--mono)}
.ev figcaption{padding:7px 10px;font-size:12px;line-height:17px;color:var(--text-3)}.ev figcaption b{display:block;font-size:13px;font-weight:550;color:var(--text)}
.say{margin-top:20px;display:grid;grid-template-columns:24px minmax(0,1fr);gap:0 12px;overflow:hidden}
.say .hd{font-size:12px;line-height:24px;color:var(--text-2)}.say .hd b{font-weight:600;color:var(--text);font-size:14px}
.say blockquote{grid-column:2;font:400 15px/23px var(--said);border-left:2px dashed var(--line-control);padding:1px 0 1px 14px;margin-top:5px;max-width:66ch;white-space:pre-wrap}
.say.person blockquote{font:450 14px/21px var(--ui);border-left:0;padding-left:0}
.note{margin-top:16px;padding:10px 14px;border-radius:7px;background:var(--wait-soft);color:var(--text)}
.note.stop{background:var(--stop-soft)}.note.ok{background:var(--accent-soft)}.note b{font-weight:620}.note p+p{margin-top:4px}
.bar{margin-top:20px;padding-top:16px;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start}
.bar .why{margin-left:auto;font-size:12px;line-height:17px;color:var(--text-2);text-align:right;max-width:46ch}
button,.btn{font:550 14px/20px var(--ui);color:var(--text);background:var(--raised);border:0;border-radius:7px;padding:8px 16px;min-height:36px;
box-shadow:inset 0 0 0 1px var(--line-strong);cursor:pointer}
button:hover{background:var(--sunken)}button.pri{background:var(--accent);color:var(--on-accent);box-shadow:none;font-weight:620}
button.pri:hover{background:var(--accent-hover)}button.link{background:none;box-shadow:none;padding:0;min-height:0;font-weight:450;color:var(--text-2);text-decoration:underline;text-decoration-color:var(--line-control);text-underline-offset:3px}
details>summary{cursor:pointer}details.btnlike>summary{list-style:none;display:inline-block;font-weight:550;border-radius:7px;padding:8px 16px;box-shadow:inset 0 0 0 1px var(--line-strong);background:var(--raised)}
details.btnlike>summary::-webkit-details-marker{display:none}details.btnlike[open]{flex-basis:100%}
label{display:block;font-weight:550;margin:14px 0 4px}
textarea,select,input:not([type=hidden]){width:100%;font:450 14px/21px var(--ui);color:var(--text);background:var(--surface);border:1px solid var(--line-control);border-radius:7px;padding:8px 10px;margin-bottom:10px}
fieldset{border:0;padding:0;margin:14px 0}legend{padding:0;font-weight:550;margin-bottom:4px}
.choice{display:flex;gap:8px;align-items:center;font-weight:450;margin:4px 0}.choice input:not([type=hidden]){width:auto;margin:0;accent-color:var(--accent)}
.facts{display:grid;grid-template-columns:150px minmax(0,1fr);gap:8px 16px;margin-top:14px}.facts dt{color:var(--text-3)}
.big{font:600 24px/36px var(--mono);letter-spacing:.08em;margin-top:8px}
.list{margin-top:16px;border:1px solid var(--line-strong);border-radius:10px;background:var(--raised);overflow:hidden}
.list li{display:grid;grid-template-columns:24px minmax(0,1fr) auto;gap:2px 11px;padding:11px 14px;border-bottom:1px solid var(--line)}
.list li:last-child{border-bottom:0}.list .ttl{font-weight:550;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}.list .f{grid-column:2/4;font-size:12px;line-height:18px;color:var(--text-2)}
.list form{grid-column:2/4;margin-top:4px}.note form{margin-top:10px}.list button,.note button{padding:4px 12px;min-height:30px}
.list.plain li{grid-template-columns:minmax(0,1fr) auto}.list.plain .f{grid-column:1/3}
details.long>summary{list-style:none}details.long>summary::-webkit-details-marker{display:none}
details.long .more,details.long .less{display:block;font:550 13px/20px var(--ui);color:var(--accent);text-decoration:underline;text-underline-offset:3px;margin:4px 0}
details.long[open] .head,details.long[open] .more,details.long:not([open]) .less{display:none}
.counts{display:flex;flex-wrap:wrap;gap:8px 20px;margin-top:16px;font-size:15px}.counts b{font-weight:650}
.chip{display:inline-block;padding:1px 7px;border-radius:5px;font-size:12px;line-height:18px;font-weight:500;color:var(--text-2);box-shadow:inset 0 0 0 1px var(--line-strong);white-space:nowrap}
.chip.adds{color:var(--work)}.chip.over{color:var(--stop);background:var(--stop-soft);box-shadow:none}.chip.out{color:var(--out);box-shadow:none;outline:1px dashed var(--out);outline-offset:-1px}
.tool{border-top:1px solid var(--line);padding:14px 0}.tool h3{font:600 14px/20px var(--mono);letter-spacing:-.01em}.tool p{margin:4px 0 6px;max-width:74ch}
.tool table{border-collapse:collapse;width:100%;font-size:13px;margin:8px 0}.tool td,.tool th{text-align:left;vertical-align:top;padding:3px 12px 3px 0;font-weight:450}.tool th{color:var(--text-3);font-size:12px}
.toc{columns:3;gap:16px;font-size:13px;margin-top:8px}.toc li{break-inside:avoid}
footer{max-width:864px;margin:0 auto;padding:0 32px 32px;font-size:12px;color:var(--text-3)}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:640px){body{font-size:15px;line-height:22px}.top{padding:12px 16px;flex-wrap:wrap}main{padding:16px;border-radius:0;margin-bottom:24px}footer{padding:0 16px 24px}
.lr,.facts{grid-template-columns:minmax(0,1fr)}.lr>dt b{display:inline;margin-right:8px}.fld{grid-template-columns:minmax(0,1fr) auto}.fld>:nth-child(2){grid-row:2;grid-column:1/3}
.bar{flex-direction:column;align-items:stretch}.bar form,.bar details{width:100%}.bar button{width:100%;min-height:44px}.bar .why{text-align:left;margin:0;max-width:none}
.say blockquote{font-size:16px;line-height:24px}.toc{columns:1}.by{white-space:normal}}
@media print{main{box-shadow:none}.bar,.top nav,details.long>summary{display:none}details.long::details-content{content-visibility:visible}}
@media (forced-colors:active){.mk{border:1px solid}.mk.agent{clip-path:none}}`

/** The source of {@link STYLE} as a content security policy names it. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`
