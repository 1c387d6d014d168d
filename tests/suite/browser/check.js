// Looks at the page as it is shown now. The value is { faults: [{ text, detail }], notes: [text] }: a note says what
// could not be decided. The same fault at another width has the same text, and its detail says where it is.
(() => {
    "use strict";
    const TOUCH = 1.5; // Texts may touch by less than this, in pixels.
    const SMALLEST = 7; // Text smaller than this, in pixels, cannot be read.
    const MOST = 10; // More faults of one kind are only counted.
    const ROW = 40; // The height of the rows by which shapes are found.
    const HIDDEN_PARTS =
        "title, desc, metadata, defs, symbol, clipPath, mask, marker, pattern, script, style, template";

    const found = new Map();
    const notes = [];
    const fault = (kind, text, detail = "") => {
        if (!found.has(kind)) found.set(kind, []);
        found.get(kind).push({ text, detail });
    };
    const cached = (compute, memory = new Map()) => (key) => {
        if (!memory.has(key)) memory.set(key, compute(key));
        return memory.get(key);
    };
    const px = (number) => `${Math.round(number * 10) / 10} px`;
    const quoted = (text) => {
        const short = text.trim().replace(/\s+/g, " ");
        return `"${short.length > 60 ? short.slice(0, 60) + "..." : short}"`;
    };
    const tag = (element) => {
        const names = [element.id && `id="${element.id}"`, element.className && element.getAttribute("class")];
        return `<${[element.localName, names[0], names[1] && `class="${names[1]}"`].filter(Boolean).join(" ")}>`;
    };
    const isSvg = (element) => element instanceof SVGElement;
    const isOuterSvg = (element) => element.localName === "svg" && !element.ownerSVGElement;
    const styleOf = cached((element) => getComputedStyle(element));
    const isShown = cached((element) =>
        element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !element.closest(HIDDEN_PARTS));
    const opacityOf = cached((element) =>
        Number(styleOf(element).opacity) * (element.parentElement ? opacityOf(element.parentElement) : 1));
    const view = document.scrollingElement;
    const pageWidth = view.clientWidth;
    const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

    // Boxes, as four corners with the rectangle around them.
    const polygon = (corners) => ({
        corners,
        left: Math.min(...corners.map((p) => p.x)), right: Math.max(...corners.map((p) => p.x)),
        top: Math.min(...corners.map((p) => p.y)), bottom: Math.max(...corners.map((p) => p.y)),
    });
    const box = (left, top, right, bottom, matrix = new DOMMatrix()) =>
        polygon([[left, top], [right, top], [right, bottom], [left, bottom]]
            .map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix)));

    // The letters themselves: a line box also has space above and below, which may overlap without harm. The extent is
    // that of a capital and a descender, so that it does not depend on the letters that happen to be there.
    const inkOf = cached((font) => {
        brush.font = font;
        const size = brush.measureText("Hg");
        return {
            above: (size.fontBoundingBoxAscent - size.actualBoundingBoxAscent) / 100,
            below: (size.fontBoundingBoxDescent - size.actualBoundingBoxDescent) / 100,
            height: (size.fontBoundingBoxAscent + size.fontBoundingBoxDescent) / 100,
        };
    });
    const fontOf = (style) => `${style.fontStyle} ${style.fontWeight} 100px ${style.fontFamily}`;
    const trimmed = (style, size, top, bottom) => {
        const ink = inkOf(fontOf(style));
        // Text of another font, or turned: the whole box.
        const isUsual = Math.abs(bottom - top - ink.height * size) < 1 + 0.1 * size;
        const isLevel = style.writingMode === "horizontal-tb";
        return isUsual && isLevel ? [top + ink.above * size, bottom - ink.below * size] : [top, bottom];
    };

    // The element that clips and scrolls this one.
    const containerOf = (element) => {
        const position = styleOf(element).position;
        if (position === "fixed") return null;
        if (position !== "absolute" || isSvg(element)) return element.parentElement;
        return element.offsetParent;
    };
    // How an element cuts its content: per axis "visible", "cut" or "scroll".
    const clipOf = cached((element) => {
        const style = styleOf(element);
        const way = (overflow) => overflow === "visible" ? "visible" : /hidden|clip/.test(overflow) ? "cut" : "scroll";
        const [x, y] = [way(style.overflowX), way(style.overflowY)];
        const isOpen = x === "visible" && y === "visible";
        if (isOpen || element === document.body || element === document.documentElement) return null;
        if (isSvg(element) && !isOuterSvg(element)) {
            if (element.localName !== "svg") return null;
            const [left, top] = [element.x.baseVal.value, element.y.baseVal.value];
            const matrix = element.parentElement.getScreenCTM();
            const edge = box(left, top, left + element.width.baseVal.value, top + element.height.baseVal.value, matrix);
            return { x, y, edge };
        }
        if (!isSvg(element) && /^(inline|contents|none)$/.test(style.display)) return null;
        const edge = element.getBoundingClientRect();
        return { x, y, edge };
    });
    const clipsOf = cached((element) => {
        const outer = containerOf(element);
        const rest = outer ? clipsOf(outer) : [];
        return clipOf(element) ? [clipOf(element), ...rest] : rest;
    });

    // All texts that are shown.
    const sizeOf = (element, matrix = new DOMMatrix()) =>
        parseFloat(styleOf(element).fontSize) * Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    const rectsOf = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()].filter((line) => line.width > 0.5 && line.height > 0.5);
    };
    const svgBoxes = (element) => {
        const area = element.getBBox();
        if (area.width === 0 || area.height === 0) return [];
        const [top, bottom] = trimmed(styleOf(element), sizeOf(element), area.y, area.y + area.height);
        return [box(area.x, top, area.x + area.width, bottom, element.getScreenCTM())];
    };
    // A part of a turned text: the upright box around it, its height and its angle give the box itself.
    const turnedBoxes = (node, element, size) => {
        const matrix = element.getScreenCTM();
        const angle = Math.atan2(matrix.b, matrix.a);
        const [c, s] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
        const height = inkOf(fontOf(styleOf(element))).height * size;
        return rectsOf(node).map((line) => {
            const width = c > s ? (line.width - height * s) / c : (line.height - height * c) / s;
            const [top, bottom] = trimmed(styleOf(element), size, -height / 2, height / 2);
            const middle = new DOMMatrix([1, 0, 0, 1, (line.left + line.right) / 2, (line.top + line.bottom) / 2]);
            return box(-width / 2, top, width / 2, bottom, middle.rotate(angle * 180 / Math.PI));
        });
    };
    const lineBoxes = (node, element, size) => {
        return rectsOf(node).map((line) => {
            const [top, bottom] = trimmed(styleOf(element), size, line.top, line.bottom);
            return box(line.left, top, line.right, bottom);
        });
    };
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || !isShown(element)) continue;
        const isSvgText = isSvg(element);
        const isQuiet = (child) => child instanceof Element ? child.matches(HIDDEN_PARTS) : child instanceof Comment;
        const isLeaf = [...element.childNodes].every((child) => child === node || isQuiet(child));
        const size = sizeOf(element, isSvgText ? element.getScreenCTM() : undefined);
        let boxes = !isSvgText ? lineBoxes(node, element, size)
            : isLeaf ? svgBoxes(element) : turnedBoxes(node, element, size);
        const clips = clipsOf(element);
        // The usual ways to hide a text from the eyes and leave it to screen readers.
        if (clips.some(({ edge }) => edge.right - edge.left <= 2 || edge.bottom - edge.top <= 2)) continue;
        if (!isSvgText) boxes = boxes.filter((part) => part.right > 0 && part.bottom > 0);
        if (boxes.length > 0) texts.push({ element, name: quoted(node.data), size, boxes, clips, isSvgText });
    }

    // Cut off, outside of the page, too small.
    const checkEdges = ({ element, name, boxes, clips, size }) => {
        if (size < SMALLEST) fault("small", `the text ${name} is smaller than ${SMALLEST} px`, ` (${px(size)})`);
        for (const part of boxes) {
            let [x, y] = [true, true];
            for (const clip of clips) {
                const { edge } = clip;
                const beyondX = Math.max(edge.left - part.left, part.right - edge.right);
                const beyondY = Math.max(edge.top - part.top, part.bottom - edge.bottom);
                const beyond = Math.max(x && clip.x === "cut" ? beyondX : 0, y && clip.y === "cut" ? beyondY : 0);
                if (beyond > 1) {
                    return fault("cut", `the text ${name} in ${tag(element)} is cut off`, ` by ${px(beyond)}`);
                }
                // What scrolls can be reached.
                if (clip.x === "scroll") x = false;
                if (clip.y === "scroll") y = false;
            }
            const beyond = Math.max(x ? Math.max(-part.left, part.right - pageWidth) : 0, y ? -part.top : 0);
            const free = clips.every((clip) => clip.x === "visible");
            if (beyond > 1 && free) {
                return fault("cut", `the text ${name} in ${tag(element)} is outside of the page`, ` by ${px(beyond)}`);
            }
        }
    };
    texts.forEach(checkEdges);

    // Horizontal scrolling, and the elements that cause it.
    if (view.scrollWidth > view.clientWidth) {
        fault("scroll", "the page scrolls horizontally", ` (${view.scrollWidth} px of ${view.clientWidth} px)`);
    }
    const wide = new Set();
    for (const element of document.body.querySelectorAll("*")) {
        if (isSvg(element) && !isOuterSvg(element) || !isShown(element)) continue;
        const area = element.getBoundingClientRect();
        const beyond = Math.max(area.right - pageWidth, area.right > 0 ? -area.left : 0);
        const outer = containerOf(element);
        if (area.width === 0 || beyond <= 1 || outer && clipsOf(outer).some((clip) => clip.x !== "visible")) continue;
        // The outermost one is enough.
        let parent = element.parentElement;
        while (parent && !wide.has(parent)) parent = parent.parentElement;
        wide.add(element);
        if (!parent) fault("wide", `the element ${tag(element)} is wider than the page`, ` by ${px(beyond)}`);
    }

    // Overlaps: a sweep from top to bottom, then the exact test by separating axes.
    const depthAlong = (axis, a, b) => {
        const span = ({ corners }) => {
            const values = corners.map((p) => p.x * axis.x + p.y * axis.y);
            return [Math.min(...values), Math.max(...values)];
        };
        const [[fromA, toA], [fromB, toB]] = [span(a), span(b)];
        return Math.min(toA, toB) - Math.max(fromA, fromB);
    };
    const axesOf = ({ corners }) => [0, 1].map((i) => {
        const [x, y] = [corners[i + 1].x - corners[i].x, corners[i + 1].y - corners[i].y];
        const length = Math.hypot(x, y) || 1;
        return { x: -y / length, y: x / length };
    });
    const depth = (a, b) => Math.min(...[...axesOf(a), ...axesOf(b)].map((axis) => depthAlong(axis, a, b)));
    const shownPart = (part, clips) => {
        let { left, top, right, bottom } = part;
        for (const { x, y, edge } of clips) {
            if (x !== "visible") [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
            if (y !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        }
        const isWhole = left === part.left && right === part.right && top === part.top && bottom === part.bottom;
        return isWhole ? part : left < right && top < bottom ? box(left, top, right, bottom) : null;
    };
    const parts = texts.flatMap((text) => text.boxes.map((part) => ({ text, shown: shownPart(part, text.clips) })))
        .filter(({ shown }) => shown).sort((a, b) => a.shown.top - b.shown.top);
    let open = [];
    const told = new Set();
    for (const part of parts) {
        const { text, shown } = part;
        open = open.filter((other) => other.shown.bottom - shown.top >= TOUCH);
        for (const { text: above, shown: upper } of open) {
            if (Math.min(upper.right, shown.right) - Math.max(upper.left, shown.left) < TOUCH) continue;
            if (text.element.contains(above.element) || above.element.contains(text.element)) continue;
            const deep = depth(upper, shown);
            if (deep < TOUCH) continue;
            const [first, second] = texts.indexOf(above) < texts.indexOf(text) ? [above, text] : [text, above];
            const [one, other] = [first, second].map(({ name, element }) => `the text ${name} in ${tag(element)}`);
            const sentence = `${one} overlaps ${other}`;
            if (!told.has(sentence)) fault("overlap", sentence, ` by ${px(deep)}`);
            told.add(sentence);
        }
        open.push(part);
    }

    // Colours. The canvas reads every notation.
    const colorOf = cached((text) => {
        brush.clearRect(0, 0, 1, 1);
        brush.fillStyle = text;
        brush.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
        return { r, g, b, a: a / 255 };
    });
    const over = (top, under, opacity = 1) => {
        const a = top.a * opacity;
        const mix = (key) => top[key] * a + under[key] * (1 - a);
        return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
    };
    const luminance = ({ r, g, b }) => [r, g, b].map((value) => value / 255)
        .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const contrast = (a, b) => {
        const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
        return (light + 0.05) / (dark + 0.05);
    };
    // The colour of an empty page depends on its colour scheme.
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.backgroundColor = "Canvas";
    const canvas = colorOf(getComputedStyle(probe).backgroundColor);
    probe.remove();
    const HTML = { color: canvas, isSure: true };
    const backgroundOf = cached((element) => {
        const style = styleOf(element);
        const under = element.parentElement ? backgroundOf(element.parentElement) : HTML;
        const isPlain = style.backgroundImage === "none" && style.filter === "none" && style.mixBlendMode === "normal";
        const isShape = isSvg(element) && !isOuterSvg(element);
        const fill = isShape ? { r: 0, g: 0, b: 0, a: 0 } : colorOf(style.backgroundColor);
        return { color: over(fill, under.color, opacityOf(element)), isSure: under.isSure && isPlain };
    });
    const isClipped = cached((element) =>
        styleOf(element).clipPath !== "none" || !!element.parentElement && isClipped(element.parentElement));
    // Shapes of SVG by rows, so that a text meets only those near it.
    const rows = new Map();
    const SHAPES = ["rect", "path", "circle", "ellipse", "polygon", "polyline"].map((name) => `svg ${name}`).join();
    for (const shape of texts.some((text) => text.isSvgText) ? document.querySelectorAll(SHAPES) : []) {
        const style = styleOf(shape);
        if (style.fill === "none" || !isShown(shape)) continue;
        const area = shape.getBoundingClientRect();
        for (let row = Math.floor(area.top / ROW); row <= Math.floor(area.bottom / ROW); row++) {
            if (!rows.has(row)) rows.set(row, []);
            rows.get(row).push({ shape, area });
        }
    }
    const shapesAt = (part) => {
        const near = new Set();
        for (let row = Math.floor(part.top / ROW); row <= Math.floor(part.bottom / ROW); row++) {
            for (const { shape, area } of rows.get(row) ?? []) {
                const width = Math.min(area.right, part.right) - Math.max(area.left, part.left);
                const height = Math.min(area.bottom, part.bottom) - Math.max(area.top, part.top);
                if (width > 1 && height > 1) near.add(shape);
            }
        }
        const isAfter = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING;
        return [...near].sort((a, b) => isAfter(a, b) ? 1 : -1);
    };
    // How much of a text a shape covers, by 15 points in the text's box.
    const coverage = (shape, { corners: [origin, right, , down] }) => {
        const back = shape.getScreenCTM().inverse();
        let inside = 0;
        for (const u of [0.05, 0.275, 0.5, 0.725, 0.95]) {
            for (const v of [0.15, 0.5, 0.85]) {
                const x = origin.x + u * (right.x - origin.x) + v * (down.x - origin.x);
                const y = origin.y + u * (right.y - origin.y) + v * (down.y - origin.y);
                if (shape.isPointInFill(new DOMPoint(x, y).matrixTransform(back))) inside += 1;
            }
        }
        return inside / 15;
    };
    for (const { element, name, size, boxes, isSvgText } of texts) {
        const style = styleOf(element);
        let { color: under, isSure } = backgroundOf(element);
        const paint = isSvgText ? style.fill : style.webkitTextFillColor;
        if (paint === "none") continue;
        if (isSvgText) {
            // A halo is also a background.
            isSure &&= style.stroke === "none" && !paint.includes("url(");
            for (const shape of shapesAt(boxes[0])) {
                const share = coverage(shape, boxes[0]);
                if (share === 0) continue;
                const fill = styleOf(shape).fill;
                const opacity = Number(styleOf(shape).fillOpacity) * opacityOf(shape);
                const isKnown = !fill.includes("url(") && !isClipped(shape);
                if (shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) {
                    const isOpaque = isKnown && opacity * colorOf(fill).a > 0.95;
                    if (share === 1 && isOpaque) fault("covered", `the text ${name} is covered by ${tag(shape)}`);
                    continue;
                }
                if (share === 1 && isKnown) under = over(colorOf(fill), under, opacity);
                else if (opacity > 0) isSure = false;
            }
        }
        const opacity = opacityOf(element) * (isSvgText ? Number(style.fillOpacity) : 1);
        const ratio = contrast(over(colorOf(paint), under, opacity), under);
        const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
        const needed = isLarge ? 3 : 4.5;
        if (!isSure) notes.push(`the contrast of the text ${name}: it is not known what is behind it`);
        else if (ratio < needed - 0.01) {
            const detail = ` (${ratio.toFixed(2)} instead of ${needed})`;
            fault("contrast", `the text ${name} in ${tag(element)} has too little contrast`, detail);
        }
    }

    // Hints that open connections are no requests, and the list of requests does not have them.
    const hints = ["preconnect", "dns-prefetch", "prefetch"].map((name) => `link[rel~=${name}]`).join();
    for (const link of document.querySelectorAll(hints)) {
        fault("hint", `the page connects to ${link.href}`);
    }

    const faults = [...found].flatMap(([kind, all]) => {
        const rest = all.length - MOST;
        const more = { text: `there are more faults of the kind "${kind}"`, detail: ` (${rest})` };
        return rest <= 0 ? all : [...all.slice(0, MOST), more];
    });
    return { faults, notes: [...new Set(notes)].slice(0, MOST) };
})()
