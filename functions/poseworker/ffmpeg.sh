#!/bin/sh
# Builds ffmpeg and ffprobe from Debian's source package into a folder: usage
# ffmpeg.sh FOLDER, as root in a Debian image. Only the containers, codecs and
# filters that shared/media uses are in; ffmpeg_parts_test.go beside it compares.
set -eu
out=${1:?usage: ffmpeg.sh FOLDER}
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"

# Where the binary packages come from there are the sources too.
for f in /etc/apt/sources.list.d/*.sources; do
	[ ! -f "$f" ] || sed -i 's/^Types: deb$/Types: deb deb-src/' "$f"
done
if [ -s /etc/apt/sources.list ]; then
	sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends dpkg-dev gcc libc6-dev make nasm pkg-config libdav1d-dev libzimg-dev zlib1g-dev >/dev/null
apt-get source -qq -o APT::Sandbox::User=root ffmpeg >/dev/null
cd ffmpeg-*/

./configure --disable-everything --disable-autodetect --disable-doc --disable-debug \
	--disable-avdevice --disable-postproc --disable-ffplay --extra-cflags=-w \
	--enable-pthreads --enable-zlib --enable-libdav1d --enable-libzimg \
	--enable-protocol=file,pipe,http,tcp \
	--enable-demuxer=mov,matroska,mpegts,avi,rawvideo \
	--enable-decoder=h264,hevc,vp8,vp9,libdav1d,mpeg4,mjpeg,prores,h263,mpeg2video,rawvideo \
	--enable-parser=h264,hevc,vp8,vp9,av1,mpeg4video,mjpeg,h263,mpegvideo \
	--enable-filter=scale,zscale,tonemap,format,pad,yadif,select,transpose,hflip,vflip,setsar,settb,setparams,metadata,split,nullsink \
	--enable-encoder=rawvideo,mjpeg,wrapped_avframe --enable-muxer=rawvideo,mjpeg,null >/dev/null
make -s -j"$(nproc)" ffmpeg ffprobe
mkdir -p "$out"
install -s -m 0755 ffmpeg ffprobe "$out"
cd /
rm -rf "$work" /var/lib/apt/lists/* /var/cache/apt/*
